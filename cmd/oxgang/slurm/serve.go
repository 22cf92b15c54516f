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
		Use: "serve", Short: "Order or resize the jobs of a partition that take part", Args: cli.NoArgs,
		Long: `Serve the jobs of a partition that take part, until interrupted. Then all that is held is released, and nice values
are what they were. It takes an operator's rights.

In mode order waiting jobs exchange their places, by their nice values, and Slurm starts them as before. A job that
takes no part has as many jobs before it as without Oxgang. In mode resize elastic jobs are held, and started,
stopped and started again on as many GPUs as the policy gives them. No other job is touched. While the file that the
configuration names under "stop" is there, the mode is off: nothing is done, and what was done is undone.`,
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
	f.StringVar((*string)(&c.now.Mode), "mode", string(c.now.Mode), "what may be done: off, order or resize")
	f.BoolVar(&c.now.Dry, "dry-run", false, "log the commands, and give none")
	return cmd
}
