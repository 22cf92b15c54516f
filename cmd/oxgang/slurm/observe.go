package slurm

import (
	"context"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
	"github.com/oxgang/oxgang/live/status"
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

REASON is Slurm's reason code, with what it means here and what would end the waiting. ETA is in how long a job
ends; of a waiting job, it is Slurm's estimate of the start from time limits. The end of a running job comes from past
runs of the same user, name and number of GPUs, if at least five took longer than it has run, and is never after its
time limit. -o json names the source of each, and has the whole status, as docs/status.schema.json describes it. -o csv
has the jobs only.`,
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
	now := view.StatusOf(look, o.past, o.noPast)
	if o.mine {
		me, err := user.Current()
		if err != nil {
			return took, err
		}
		now.Jobs = slices.DeleteFunc(now.Jobs, func(j status.Job) bool { return j.User != me.Username })
	}
	switch o.format {
	case "table":
		return took, tables(w, now)
	case "csv":
		return took, cli.Write(w, o.format, now.Jobs)
	}
	return took, cli.Write(w, o.format, now)
}

// slow is how long a look in JSON may take. squeue needs twice the time for it that text takes.
const slow = 2 * time.Second

// take asks Slurm, and says how long that took.
func (o *observation) take(ctx context.Context) (*view.Look, time.Duration, error) {
	begin := time.Now()
	look, err := view.Take(ctx, o.client, time.Now)
	return look, time.Since(begin), err
}

// tables writes what a Slurm does for people.
func tables(w io.Writer, s *status.Status) error {
	s.WriteHead(w)
	if len(s.Jobs) == 0 {
		fmt.Fprintln(w, "no jobs")
	} else {
		fmt.Fprintln(w)
		if err := s.WriteJobs(w, s.Jobs, status.Options{}); err != nil {
			return err
		}
	}
	return s.WriteIdle(w, status.Options{})
}
