package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm"
	"github.com/oxgang/oxgang/live/slurm/client"
)

func serveCommand() *cobra.Command {
	c := configFlags{now: slurm.DefaultConfig()}
	var undo, advise bool
	var format string
	cmd := &cobra.Command{
		Use: "serve", Short: "Order or resize the jobs of a partition that have opted in", Args: cli.NoArgs,
		Long: `Manage the jobs of a partition that have opted in, until interrupted. At its end the command releases
held jobs and restores nice values. It needs operator rights.

In mode order, waiting jobs exchange places through their nice values, and Slurm starts them as
before. Jobs that have not opted in are never delayed. In mode resize, elastic jobs are held, and
started, stopped and restarted with the number of GPUs that the policy assigns. Other jobs are not
changed. While the file named by "stop" in the configuration exists, the mode is off, and all changes
are undone.

A job opts in with "#SBATCH --comment=oxgang:order", or, if it may be restarted with another number of
GPUs, with "#SBATCH --comment=oxgang:elastic;min=2;max=16". With --recommend, plan one round, print
what would be done with each of these jobs, and why, change nothing, and end. With --release, undo the
changes of a killed serve.`,
		Example: `  oxgang slurm serve --partition gpu --recommend
  oxgang slurm serve --partition gpu --dry-run
  oxgang slurm serve --config /etc/oxgang/slurm.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckOutput(format, advised...); err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
			defer stop()
			now, err := c.read()
			switch {
			case err != nil:
				return err
			case undo && advise:
				return cli.Misused("use either --recommend or --release")
			case undo:
				return slurmHinted(release(ctx, cmd.OutOrStdout(), now, log))
			case advise:
				return slurmHinted(recommend(ctx, cmd.OutOrStdout(), format, now))
			}
			acting := &client.Client{OnlyJSON: true}
			if _, err := acting.Jobs(ctx); errors.Is(err, client.ErrText) {
				return err
			}
			s := slurm.Service{Slurm: acting, Read: c.read, Log: log, Tool: "oxgang " + cli.Version()}
			err = s.Run(ctx)
			if errors.Is(err, context.Canceled) {
				return cli.ErrInterrupted
			}
			return slurmHinted(err)
		},
	}
	c.add(cmd)
	f := cmd.Flags()
	f.StringVar((*string)(&c.now.Mode), "mode", string(c.now.Mode), "off, order or resize")
	f.BoolVar(&c.now.Dry, "dry-run", false, "log the commands without running them")
	f.BoolVar(&advise, "recommend", false, "print what would be done with each job, and exit")
	f.BoolVar(&undo, "release", false, "undo Oxgang's changes to the jobs of the partition, and exit")
	cli.Output(cmd, &format, advised...)
	return cmd
}

func release(ctx context.Context, w io.Writer, c *slurm.Config, log *slog.Logger) error {
	n, err := slurm.ReleasePartition(ctx, &client.Client{OnlyJSON: true}, c, log)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", printable.Count(n, "command"))
	return err
}
