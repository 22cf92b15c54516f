package machine

import (
	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/job"
)

// LogsCommand returns the command "oxgang logs".
func LogsCommand() *cobra.Command {
	var (
		s      liveState
		follow bool
		lines  int
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"log", "tail", "output"},
		Use:        "logs NAME", Short: "Show the output of a job", Args: cli.OneArg("NAME"),
		Long: `Show the last lines that the workers of a job printed, over all its starts. Lines of ranks
other than 0 begin with [rank N].`,
		Example: `  oxgang logs mnist-2
  oxgang logs mnist-2 -f -n 1000`,
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, args []string) error {
		if lines < 0 {
			return cli.Misused("--lines %d, want at least 0", lines)
		}
		err := c.Log(cmd.Context(), job.ID(args[0]), lines, follow, cmd.OutOrStdout())
		if follow && cmd.Context().Err() != nil {
			return nil //nolint:nilerr // that is how one stops to follow
		}
		return err
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "follow the output until the job ends or Ctrl-C")
	f.IntVarP(&lines, "lines", "n", 50, "number of last lines")
	s.completeJobs(cmd, true, 1)
	return cmd
}
