// Package lab has the commands below "oxgang lab", for papers and comparisons.
package lab

import (
	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/simulate"
)

// Command returns the command "oxgang lab".
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Reproduce papers, compare policies, and measure solvers",
	}
	cmd.AddCommand(reproduceCommand(), matrixCommand(), simulate.GymCommand(), profileCommand(), solversCommand())
	for _, name := range solverCases {
		cmd.AddCommand(cli.Renamed(name, "lab solvers "+name))
	}
	cli.Group(cmd)
	return cmd
}
