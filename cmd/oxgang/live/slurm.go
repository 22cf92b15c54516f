package live

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
)

// SlurmCommand returns the command "oxgang slurm".
func SlurmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "slurm", Short: "Show a Slurm cluster's state, and order or resize its jobs",
		Long: `Show a Slurm cluster's state and reasons, recommend improvements, and apply them. It runs Slurm's commands in your
PATH, with your permissions. Only "serve" changes jobs; "submit" submits one.`,
		Example: `  oxgang slurm observe
  oxgang slurm serve --partition gpu --recommend
  oxgang slurm serve --partition gpu --dry-run`,
	}
	cli.Group(cmd)
	cmd.AddCommand(observeCommand(), serveCommand(), submitCommand())
	return cmd
}

// slurmHinted adds a hint to an error of Slurm's commands.
func slurmHinted(err error) error {
	switch {
	case errors.Is(err, client.ErrNoCommand):
		return cli.Hinted(err, "run this where Slurm's commands are, such as a login node")
	case errors.Is(err, client.ErrUnreachable):
		return cli.Hinted(err, `check slurmctld with "scontrol ping"; set SLURM_CONF for another configuration`)
	case errors.Is(err, client.ErrTimeout):
		return cli.Hinted(err, `slurmctld may be overloaded; find the cause with "sdiag"`)
	case errors.Is(err, client.ErrDenied):
		return cli.Hinted(err, `see your permissions with "sacctmgr show user $USER"`)
	case errors.Is(err, client.ErrVersion), errors.Is(err, client.ErrMalformed):
		return cli.Hinted(err, "please report this with the output of the command and of \"squeue --version\"")
	case errors.Is(err, view.ErrClocks):
		return cli.Hinted(err, "set the clocks by NTP")
	case errors.Is(err, context.Canceled):
		return cli.ErrInterrupted
	}
	return err
}
