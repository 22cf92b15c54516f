package live

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

var explanations = []string{"text", "json", "yaml"}

// ExplainJobCommand returns "oxgang explain" for a job of the running scheduler.
func ExplainJobCommand() *cobra.Command {
	var s liveState
	var format string
	var verbose bool
	cmd := &cobra.Command{
		Use: "job NAME", Short: "Explain a job of this machine's scheduler or of Slurm",
		Long: `Explain the state of a job of this machine's scheduler, and what comes next. With --slurm, explain a Slurm job: why it waits,
what would help, and when it should start or end. A number is also looked up in Slurm if no scheduler runs on this machine and
Slurm's commands are in PATH.`,
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

func writeLines(w io.Writer, text string) error {
	_, err := fmt.Fprintln(w, printable.Text(strings.TrimRight(text, "\n")))
	return err
}
