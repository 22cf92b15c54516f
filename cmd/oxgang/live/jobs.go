package live

import (
	"context"
	"fmt"
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

// TopCommand returns the command "oxgang top".
func TopCommand() *cobra.Command {
	var (
		s       liveState
		watched bool
		format  string
	)
	cmd := &cobra.Command{
		SuggestFor: []string{"status", "usage", "nodes", "gpus", "sinfo"},
		Use:        "top", Short: "Show the use of this machine", Args: cli.NoArgs,
		Long: `Show the job in each slot of this machine, the cores and memory assigned to jobs, and the
policy's current price of a GPU. With --watch on a terminal, choose jobs with the arrow keys
and open them with Enter; q quits. The formats json and yaml contain the whole status
(docs/status.schema.json), csv only the slots.`,
		Example: `  oxgang top --watch`,
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, _ []string) error {
		if err := cli.CheckOutput(format, formats...); err != nil {
			return err
		}
		if watched && format == "table" && cli.Terminal(cmd.OutOrStdout()) {
			now := func(ctx context.Context) (*status.Status, error) { return c.Status(ctx, false) }
			return runScreen(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), everyTwoSeconds(now))
		}
		return cli.Show(cmd, watched, func(w io.Writer) error {
			now, err := c.Status(cmd.Context(), false)
			if err != nil {
				return err
			}
			switch format {
			case "table":
				now.WriteHead(w)
				fmt.Fprintln(w)
				return now.WriteNodes(w, status.Options{Width: cli.Columns(cmd.OutOrStdout())})
			case "csv":
				return cli.Write(w, format, now.Slots())
			}
			return cli.Write(w, format, now)
		})
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&watched, "watch", false, "refresh every 2 s; on a terminal, use the whole screen")
	cli.Output(cmd, &format, formats...)
	return cmd
}
