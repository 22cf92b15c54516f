package machine

import (
	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/local/statedir"
)

// BackupCommand returns the command "oxgang backup".
func BackupCommand() *cobra.Command {
	var (
		s           liveState
		checkpoints bool
	)
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write what the scheduler must not lose into a file", Args: cli.OneArg("FILE"),
		Long: `Write the database of jobs and the journals into a file, also while the scheduler
runs. The file is replaced, whole, if it is there. It has the environments of jobs, with
any secrets in them, and only its owner can read it.`,
		Example: `  oxgang backup oxgang.tar
  oxgang backup --checkpoints /backup/oxgang.tar`,
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := s.path()
		if err != nil {
			return err
		}
		return statedir.Backup(args[0], dir, checkpoints)
	}
	s.add(cmd)
	cmd.Flags().BoolVar(&checkpoints, "checkpoints", false, "with the checkpoints of jobs that have not ended")
	return cmd
}

// RestoreCommand returns the command "oxgang restore".
func RestoreCommand() *cobra.Command {
	var s liveState
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Make a state directory of a backup", Args: cli.OneArg("FILE"),
		Long: `Make a state directory of a backup. One that has something in it is refused. When
"oxgang serve" is started on it, jobs that had not ended start again, from the checkpoints
that are in the backup. They must not run anywhere else any more.`,
		Example: `  oxgang restore oxgang.tar --state /new`,
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := s.path()
		if err != nil {
			return err
		}
		return statedir.Restore(args[0], dir)
	}
	s.add(cmd)
	return cmd
}
