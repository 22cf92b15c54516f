package machine

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/model/job"
)

// explanations are the formats of one.
var explanations = []string{"text", "json", "yaml"}

// ExplainJobCommand returns the command "oxgang explain job".
func ExplainJobCommand() *cobra.Command {
	var s liveState
	var format string
	var verbose bool
	cmd := &cobra.Command{
		Use: "job NAME", Short: "Say why a job of this machine's scheduler, or of a Slurm, waits or has what it has",
		Long: `Ask the scheduler of this machine how a job stands, why, and what comes next. With --slurm, Slurm is asked, as
"oxgang slurm observe" does: why a job waits in Slurm's word and in ours, what would help, and when it is expected to start or end.
Without a scheduler on this machine, that is also done for a number where Slurm's commands are in the path.`,
		Example: `  oxgang explain job mnist-2
  oxgang explain job mnist-2 -o json
  oxgang explain job --slurm 1234_5`,
		Args: cli.OneArg("NAME"),
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, args []string) error {
		if err := cli.CheckOutput(format, explanations...); err != nil {
			return err
		}
		e, err := c.Explain(cmd.Context(), job.ID(args[0]))
		if err != nil {
			return err
		}
		if format == "text" {
			if verbose && e.Details != "" {
				e.Text = strings.TrimRight(e.Text, "\n") + "\n\n" + e.Details
			}
			return writeLines(cmd.OutOrStdout(), e.Text)
		}
		return cli.Write(cmd.OutOrStdout(), format, e)
	})
	s.add(cmd)
	cli.Output(cmd, &format, explanations...)
	cmd.Flags().BoolVar(&verbose, "verbose", false, "also print the prices and weights behind the reasons")
	s.completeJobs(cmd, true, 1)
	return cmd
}

// writeLines writes a text whose last line may not have been ended.
func writeLines(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, printable.Text(strings.TrimRight(text, "\n")))
	return err
}
