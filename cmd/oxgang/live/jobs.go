package live

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
)

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
		Long: `List the jobs of this machine's scheduler in order of submission. GOODPUT is samples per second
at the statistical efficiency of the initial batch size. ETA is the expected time to the end. A
star marks a job that measures batch sizes while it trains. The formats json and yaml contain the
whole status (docs/status.schema.json), csv only the jobs.`,
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
				return now.WriteJobs(w, now.All(), status.Options{Width: cli.Columns(cmd.OutOrStdout())})
			case "csv":
				return cli.Write(w, format, now.All())
			}
			return cli.Write(w, format, now)
		})
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "include jobs that have ended")
	f.BoolVar(&watched, "watch", false, "refresh every 2 s, until Ctrl-C")
	cli.Output(cmd, &format, formats...)
	return cmd
}
