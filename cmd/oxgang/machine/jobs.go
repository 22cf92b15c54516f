package machine

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/control"
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
while it trains.`,
		Example: `  oxgang jobs
  oxgang jobs --all -o json`,
	}
	cmd.RunE = s.asking(func(cmd *cobra.Command, c *control.Client, _ []string) error {
		if err := cli.CheckOutput(format, formats...); err != nil {
			return err
		}
		return cli.Show(cmd, watched, func(w io.Writer) error {
			jobs, err := c.Jobs(cmd.Context(), all)
			if err != nil {
				return err
			}
			if format == "table" {
				return jobsTable(w, jobs, time.Now())
			}
			return cli.Write(w, format, jobs)
		})
	})
	s.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "also jobs that have ended")
	f.BoolVar(&watched, "watch", false, "show them anew every 2 s, until Ctrl-C")
	cli.Output(cmd, &format, formats...)
	return cmd
}

// jobsTable writes a row for each job, as of now.
func jobsTable(w io.Writer, jobs []control.View, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	several := slices.ContainsFunc(jobs, func(v control.View) bool { return v.User != "" })
	if several {
		fmt.Fprint(t, "USER\t")
	}
	fmt.Fprintln(t, "NAME\tPHASE\tGPUS\tBATCH\tGOODPUT\tPROGRESS\tRESTARTS\tETA\tREASON")
	for i := range jobs {
		v := &jobs[i]
		row := []string{string(v.ID), phase(v), gpus(v), Number(float64(v.Batch)), Number(v.Goodput), progressOf(v), strconv.Itoa(v.Restarts), eta(v, now), reason(v)}
		if several {
			row = append([]string{cmp.Or(v.User, "-")}, row...)
		}
		for c := range row {
			row[c] = printable.Line(row[c])
		}
		if _, err := fmt.Fprintln(t, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// phase returns a job's phase, with a star while it measures batch sizes.
func phase(v *control.View) string {
	if v.Profiling {
		return v.Phase + "*"
	}
	return v.Phase
}

// gpus returns the GPUs that a job holds, and how many it may hold: "2 h200 of 1..4", "0 of 2".
func gpus(v *control.View) string {
	held := strconv.Itoa(v.GPUs)
	if v.GPUType != "" {
		held += " " + string(v.GPUType)
	}
	return held + " of " + control.Range{Min: v.MinGPUs, Max: v.MaxGPUs}.String()
}

// Number returns a number in four digits, or the whole of it from 1000 to a million; - for 0.
func Number(x float64) string {
	switch {
	case x == 0:
		return "-"
	case x >= 1e6:
		return fmt.Sprintf("%.3g", x)
	case x >= 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// progressOf returns the progress of a job: "42.0 %", or samples if its target is not known.
func progressOf(v *control.View) string {
	if v.Target > 0 {
		return fmt.Sprintf("%.1f %%", 100*min(1, v.Progress/v.Target))
	}
	return Number(v.Progress)
}

// eta returns how long from now until a job ends: "1h20m-2h10m".
func eta(v *control.View, now time.Time) string {
	switch {
	case v.EndEarly == nil && v.EndLate == nil || v.Ended():
		return "-"
	case v.EndLate == nil:
		return ">" + printable.Short(v.EndEarly.Sub(now))
	case v.EndEarly == nil:
		return "<" + printable.Short(v.EndLate.Sub(now))
	}
	early, late := printable.Short(v.EndEarly.Sub(now)), printable.Short(v.EndLate.Sub(now))
	if early == late {
		return early
	}
	return early + "-" + late
}

// reason returns the reason for a job's state, or how it ended, in one line.
func reason(v *control.View) string {
	text := cmp.Or(v.Trouble, v.Reason)
	if v.Ended() {
		text = Headline(v.Detail)
	}
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 60 {
		text = string(r[:57]) + "..."
	}
	if text == "" {
		return "-"
	}
	return text
}

// Headline returns the first line of a detail, without the clause that announces others:
// "exit status 1; its last lines:".
func Headline(detail string) string {
	head, _, more := strings.Cut(detail, "\n")
	if i := strings.LastIndex(head, "; "); more && i > 0 && strings.HasSuffix(head, ":") {
		return head[:i]
	}
	return head
}
