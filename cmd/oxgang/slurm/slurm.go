package slurm

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
)

// Command returns the command with the subcommands about a Slurm.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "slurm", Short: "Show what a Slurm does, order its jobs and resize them",
		Long: `Show what a Slurm does, and why, say what would be better, and do it, through Slurm's own commands in your path:
your account and its permissions hold. Only "serve" and "release" change jobs; "submit" submits one.`,
		Example: `  oxgang slurm observe
  oxgang slurm recommend --partition gpu
  oxgang slurm serve --partition gpu --dry-run`,
	}
	cli.Group(cmd)
	cmd.AddCommand(observeCommand(), recommendCommand(), serveCommand(), releaseCommand(), submitCommand())
	return cmd
}

// Hinted returns an error of Slurm's commands with what to do next.
func Hinted(err error) error {
	switch {
	case errors.Is(err, client.ErrNoCommand):
		return cli.Hinted(err, "run this where Slurm's commands are, as on a login node")
	case errors.Is(err, client.ErrUnreachable):
		return cli.Hinted(err, `"scontrol ping" says whether slurmctld runs; SLURM_CONF names another configuration`)
	case errors.Is(err, client.ErrTimeout):
		return cli.Hinted(err, `slurmctld may be overloaded: "sdiag" says by whom`)
	case errors.Is(err, client.ErrDenied):
		return cli.Hinted(err, `"sacctmgr show user $USER" says what your account may do`)
	case errors.Is(err, client.ErrVersion), errors.Is(err, client.ErrMalformed):
		return cli.Hinted(err, "please report it with what the command prints and \"squeue --version\"")
	case errors.Is(err, view.ErrClocks):
		return cli.Hinted(err, "set the clocks by NTP")
	case errors.Is(err, context.Canceled):
		return cli.ErrInterrupted
	}
	return err
}
