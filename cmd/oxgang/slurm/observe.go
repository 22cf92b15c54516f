package slurm

import (
	"context"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
)

// formats are those of observe.
var formats = []string{"table", "json", "yaml", "csv"}

// observation has the flags of one call of observe.
type observation struct {
	format  string
	mine    bool
	watched bool
	history time.Duration
	client  *client.Client
	past    *view.History
	noPast  string // why there is no past
}

// observeCommand returns the command "oxgang slurm observe".
func observeCommand() *cobra.Command { return observeCommandOf(newObservation()) }

// month is how far back past runs tell when jobs end, unless told otherwise.
const month = 30 * 24 * time.Hour

// newObservation returns an observation by the commands in the user's path.
func newObservation() *observation {
	return &observation{client: &client.Client{Run: client.Limited(client.Exec, client.DefaultPerMinute), Slow: slow}, history: month}
}

// observeCommandOf returns the command that fills in an observation, and makes it.
func observeCommandOf(o *observation) *cobra.Command {
	cmd := &cobra.Command{
		SuggestFor: []string{"status", "show", "queue", "squeue", "top"},
		Use:        "observe", Short: "Say what runs, who waits and why, and which GPUs are idle", Args: cli.NoArgs,
		Long: `Say what runs on a Slurm, who waits and why, and which GPUs are idle and why. It writes nothing and needs no
more rights than squeue.

REASON is Slurm's reason code, with what it means here and what would end the waiting. The ETA of a job that waits
is Slurm's plan, which believes time limits; that of one that runs comes from past runs of the same user, name and
number of GPUs, if there are at least five that took longer than it has run, and is never after its time limit.
-o json says for each where it comes from. -o csv has the jobs only.`,
		Example: `  oxgang slurm observe
  oxgang slurm observe --mine --watch
  oxgang slurm observe -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckOutput(o.format, formats...); err != nil {
				return err
			}
			if o.history < 0 {
				return cli.Misused("--history %v, want how far back, or 0", o.history)
			}
			return Hinted(o.run(cmd))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.mine, "mine", false, "only your jobs")
	f.BoolVarP(&o.watched, "watch", "w", false, "show it anew every 2 s, less often where nothing changes or slurmctld is slow, until Ctrl-C")
	f.DurationVar(&o.history, "history", month, "how far back past runs tell when jobs end; 0: not at all")
	cli.Output(cmd, &o.format, formats...)
	return cmd
}

// run shows one report, or many.
func (o *observation) run(cmd *cobra.Command) error {
	o.learn(cmd.Context())
	if !o.watched {
		return cli.Show(cmd, false, func(w io.Writer) error {
			_, err := o.show(cmd.Context(), w)
			return err
		})
	}
	pace, last := client.DefaultPace(), ""
	for {
		var page strings.Builder
		took, err := o.show(cmd.Context(), &page)
		if err != nil {
			if cmd.Context().Err() != nil {
				return nil //nolint:nilerr // it was stopped while it asked
			}
			return err
		}
		now := page.String()
		if err := cli.Redraw(cmd.OutOrStdout(), now); err != nil {
			return err
		}
		changed := now != last
		last = now
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(pace.Next(took, changed)):
		}
	}
}

// learn asks once for past runs.
func (o *observation) learn(ctx context.Context) {
	runs, none := o.ask(ctx)
	if o.noPast = none; none == "" {
		o.past = view.HistoryOf(runs)
	}
}

// ask returns past runs, or why they are not known.
func (o *observation) ask(ctx context.Context) ([]client.Run, string) {
	if o.history == 0 {
		return nil, "past runs were not asked for"
	}
	runs, err := o.client.Accounting(ctx, time.Now().Add(-o.history))
	if err != nil {
		return nil, "past runs are not known: " + err.Error()
	}
	return runs, ""
}

// show writes a report, and says how long Slurm took.
func (o *observation) show(ctx context.Context, w io.Writer) (time.Duration, error) {
	look, took, err := o.take(ctx)
	if err != nil {
		return took, err
	}
	r := view.ReportOf(look, o.past, o.noPast)
	if o.mine {
		me, err := user.Current()
		if err != nil {
			return took, err
		}
		r.Jobs = slices.DeleteFunc(r.Jobs, func(j view.Job) bool { return j.User != me.Username })
	}
	switch o.format {
	case "table":
		return took, tables(w, r)
	case "csv":
		return took, cli.Write(w, o.format, r.Jobs)
	}
	return took, cli.Write(w, o.format, r)
}

// slow is how long a look in JSON may take. squeue needs twice the time for it that text takes.
const slow = 2 * time.Second

// take asks Slurm, and says how long that took.
func (o *observation) take(ctx context.Context) (*view.Look, time.Duration, error) {
	begin := time.Now()
	look, err := view.Take(ctx, o.client, time.Now)
	return look, time.Since(begin), err
}

// tables writes a report for people.
func tables(w io.Writer, r *view.Report) error {
	for _, t := range r.Types {
		fmt.Fprintf(w, "%d GPUs%s: %d held, %d idle, of which %d cannot be used\n", t.GPUs, ofType(t.Name), t.Held, t.GPUs-t.Held, t.Down)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, "note:", printable.Line(n))
	}
	if err := jobsTable(w, r); err != nil {
		return err
	}
	if len(r.Idle) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return table(w, "NODE\tGPUS\tTYPE\tIDLE BECAUSE", len(r.Idle), func(i int) []string {
		v := &r.Idle[i]
		return []string{v.Node, strconv.Itoa(v.GPUs), dash(v.Type), string(v.Cause) + ": " + v.Why}
	})
}

// jobsTable writes a row for each job, and for one that waits a second, with what would help.
func jobsTable(w io.Writer, r *view.Report) error {
	if len(r.Jobs) == 0 {
		_, err := fmt.Fprintln(w, "no jobs")
		return err
	}
	fmt.Fprintln(w)
	return table(w, "JOB\tNAME\tUSER\tPARTITION\tSTATE\tGPUS\tTYPE\tETA\tREASON", len(r.Jobs), func(i int) []string {
		j := &r.Jobs[i]
		return []string{j.ID, short(j.Name), j.User, j.Partition, strings.ToLower(j.State), strconv.Itoa(j.GPUs), dash(j.Type), etaOf(j, r.At), reasonOf(j)}
	})
}

// table writes rows below a head.
func table(w io.Writer, head string, rows int, row func(int) []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, head)
	for i := range rows {
		cells := row(i)
		for c := range cells {
			cells[c] = printable.Line(cells[c])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// widest is how much of a name a table shows.
const widest = 24

// short returns a name that does not make a table wide.
func short(name string) string {
	if r := []rune(name); len(r) > widest {
		return string(r[:widest-1]) + "…"
	}
	return name
}

// ofType returns the words for a type of GPUs.
func ofType(name string) string {
	if name == "" {
		return ""
	}
	return " of type " + name
}

// dash returns a text, or what stands for none.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// reasonOf returns why a job waits: in Slurm's word, in ours, and what would help.
func reasonOf(j *view.Job) string {
	if j.Code == "" {
		return dash(j.Note)
	}
	return fmt.Sprintf("%s: %s; helps: %s", j.Code, j.Why, j.Unblock)
}

// etaOf returns in how long a job starts or ends: "ends in 2h-3h", "starts by 40m", "?" if that is not known.
func etaOf(j *view.Job, now time.Time) string {
	what, e := "ends", j.End
	if j.State == string(client.Pending) {
		what, e = "starts", j.Start
	}
	in := func(t time.Time) string {
		left := t.Sub(now).Round(time.Minute)
		if left <= 0 {
			return "0m"
		}
		return strings.TrimSuffix(left.String(), "0s")
	}
	switch {
	case e.Late.IsZero() && e.Early.IsZero():
		return "?"
	case e.Early.IsZero() && what == "starts":
		return "Slurm plans " + in(e.Late)
	case e.Early.IsZero():
		return what + " by " + in(e.Late)
	}
	return what + " in " + in(e.Early) + "-" + in(e.Late)
}
