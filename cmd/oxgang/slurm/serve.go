package slurm

import (
	"context"
	"errors"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/service"
)

// serveCommand returns the command "oxgang slurm serve".
func serveCommand() *cobra.Command {
	c := configFlags{now: service.Defaults()}
	cmd := &cobra.Command{
		Use: "serve", Short: "Order the jobs of a partition that take part", Args: cli.NoArgs,
		Long: `Order the waiting jobs of a partition that take part, until interrupted: they exchange their places, by their
nice values, and Slurm starts them as before. Then all of it is undone. It takes an operator's rights.

A job that takes no part has as many jobs before it as without Oxgang, and is never touched. While the file that
the configuration names under "stop" is there, nothing is done, and what was done is undone.`,
		Example: `  oxgang slurm serve --partition gpu --dry-run
  oxgang slurm serve --config /etc/oxgang/slurm.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
			defer stop()
			r, err := service.NewOrderer(&client.Client{}, c.read, log)
			if err != nil {
				return err
			}
			if err = r.Run(ctx); errors.Is(err, context.Canceled) {
				return cli.ErrInterrupted
			}
			return Hinted(err)
		},
	}
	c.add(cmd)
	f := cmd.Flags()
	f.StringVar((*string)(&c.now.Mode), "mode", string(c.now.Mode), "what may be done: off or order")
	f.BoolVar(&c.now.Dry, "dry-run", false, "log the commands, and give none")
	return cmd
}
