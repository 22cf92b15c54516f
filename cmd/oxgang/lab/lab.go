package study

import (
	"github.com/oxgang/oxgang/cmd/oxgang/cli"
)
import "github.com/spf13/cobra"

// CasestudyCommand has one command below it for each case study.
func CasestudyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "casestudy",
		Short: "Measure the optimisation engines on problems of production scale",
	}
	cmd.AddCommand(roundsCommand(), shardsCommand(), teCommand())
	cli.Group(cmd)
	return cmd
}
