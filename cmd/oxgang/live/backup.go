package live

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/local/statedir"
)

// BackupCommand returns the command "oxgang backup".
func BackupCommand() *cobra.Command {
	var (
		s           liveState
		checkpoints bool
		restore     bool
	)
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Back up the scheduler's state, or restore it", Args: cli.OneArg("FILE"),
		Long: `Write the job database and the journals to a file. The scheduler may be running. An existing
file is replaced atomically. The file contains the environments of jobs, including secrets, and
only its owner can read it. With --checkpoints, an incomplete checkpoint is left out, and its name is
printed; the exit status is 1 if a job then has no checkpoint.

With --restore, restore FILE to the state directory, which must be empty. "oxgang serve" then restarts
the jobs that had not ended, from the checkpoints in the backup. Make sure that they no longer run
anywhere else.`,
		Example: `  oxgang backup oxgang.tar
  oxgang backup --checkpoints /backup/oxgang.tar
  oxgang backup --restore oxgang.tar --state /new`,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := s.path()
		if err != nil {
			return err
		}
		if restore && checkpoints {
			return cli.Misused("--checkpoints is for making a backup, not for --restore")
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
		defer stop()
		if restore {
			torn, err := statedir.Restore(ctx, args[0], dir)
			return leftOut(cmd, "not restored", torn, err)
		}
		torn, err := statedir.Backup(ctx, args[0], dir, checkpoints)
		return leftOut(cmd, "left out", torn, err)
	}
	s.add(cmd)
	cmd.Flags().BoolVar(&checkpoints, "checkpoints", false, "include checkpoints of jobs that have not ended")
	cmd.Flags().BoolVar(&restore, "restore", false, "restore the state directory from FILE")
	return cmd
}

func leftOut(cmd *cobra.Command, what string, torn []statedir.Torn, err error) error {
	for i := range torn {
		cmd.PrintErrln(what + ": " + printable.Line(torn[i].String()))
	}
	return err
}
