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
		Use: "serve", Short: "Order or resize the jobs of a partition that have opted in", Args: cli.NoArgs,
		Long: `Manage the jobs of a partition that have opted in, until interrupted. At the end, release held jobs and restore
nice values. It needs operator rights.

In mode order, waiting jobs exchange places through their nice values, and Slurm starts them as before. Jobs
that have not opted in are never delayed. In mode resize, elastic jobs are held, and started, stopped and
restarted with the number of GPUs that the policy assigns. Other jobs are not touched. While the file named by
"stop" in the configuration exists, the mode is off, and all changes are undone.`,
		Example: `  oxgang slurm serve --partition gpu --dry-run
  oxgang slurm serve --config /etc/oxgang/slurm.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
			defer stop()
			if _, err := c.read(); err != nil {
				return err
			}
			s := service.Service{Slurm: &client.Client{}, Read: c.read, Log: log, Tool: "oxgang " + cli.Version()}
			err := s.Run(ctx)
			if errors.Is(err, context.Canceled) {
				return cli.ErrInterrupted
			}
			return Hinted(err)
		},
	}
	c.add(cmd)
	f := cmd.Flags()
	f.StringVar((*string)(&c.now.Mode), "mode", string(c.now.Mode), "off, order or resize")
	f.BoolVar(&c.now.Dry, "dry-run", false, "log the commands without running them")
	return cmd
}
