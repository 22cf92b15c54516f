package slurm

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/service"
)

// releaseCommand returns the command "oxgang slurm release".
func releaseCommand() *cobra.Command {
	c := configFlags{now: service.Defaults()}
	cmd := &cobra.Command{
		Use: "release", Short: "Undo Oxgang's changes to the jobs of a partition", Args: cli.NoArgs,
		Long: `Undo Oxgang's changes to the jobs of a partition, by the marks in their AdminComment: restore nice values and
release held jobs. "oxgang slurm serve" does this when it ends; use this command if it was killed.`,
		Example: `  oxgang slurm release --partition gpu`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			now, err := c.read()
			if err != nil {
				return err
			}
			n, err := service.Release(cmd.Context(), &client.Client{}, now, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
			if err != nil {
				return Hinted(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d commands\n", n)
			return err
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVar(&c.now.Dry, "dry-run", false, "log the commands without running them")
	return cmd
}
