package machine

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
)

// formats are those of commands that list something.
var formats = []string{"table", "json", "yaml", "csv"}

// JobsCommand returns the command "oxgang jobs".
func JobsCommand() *cobra.Command {
	var (
		s            liveState
		all, watched bool
		format       string
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"status", "list", "ps", "queue", "squeue", "get"},
		Use:        "jobs", Short: "List the jobs of this machine's scheduler", Args: cli.NoArgs,
		Long: `List the jobs of this machine's scheduler in the order in which they came. GOODPUT is
samples per second at the statistical efficiency of the batch size that the job came with;
ETA is in what time a job is expected to end; a star says that it measures batch sizes
while it trains. As csv it has the jobs only, as json and yaml the whole status, as docs/status.schema.json describes it.`,
		Example: `  oxgang jobs
  oxgang jobs --all -o json`,
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, _ []string) error {
		if err := cli.CheckOutput(format, formats...); err != nil {
			return err
		}
		return cli.Show(cmd, watched, func(w io.Writer) error {
			now, err := c.Status(cmd.Context(), all)
			if err != nil {
				return err
			}
			switch format {
			case "table":
				return now.WriteJobs(w, now.All(), status.Options{})
			case "csv":
				return cli.Write(w, format, now.All())
			}
			return cli.Write(w, format, now)
		})
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "also jobs that have ended")
	f.BoolVar(&watched, "watch", false, "show them anew every 2 s, until Ctrl-C")
	cli.Output(cmd, &format, formats...)
	return cmd
}
