package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/slurm"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
	"github.com/oxgang/oxgang/live/status"
)

type observation struct {
	format  string
	mine    bool
	watched bool
	history time.Duration
	client  *client.Client
	width   int // of tables
	past    *view.History
	noPast  string
}

func observeCommand() *cobra.Command { return observeCommandOf(newObservation()) }

const month = 30 * 24 * time.Hour

func newObservation() *observation {
	return &observation{client: &client.Client{Run: client.Limited(client.Exec, client.DefaultPerMinute), Slow: slow}, history: month}
}

func observeCommandOf(o *observation) *cobra.Command {
	cmd := &cobra.Command{
		SuggestFor: []string{"status", "show", "queue", "squeue", "top"},
		Use:        "observe", Short: "Show running and waiting jobs with reasons, and idle GPUs", Args: cli.NoArgs,
		Long: `Show the running and waiting jobs of Slurm, with reasons, and the idle GPUs. It changes nothing and
needs no more rights than squeue.

REASON is Slurm's reason code with an explanation; "oxgang explain job NUMBER" also prints what would
help. ETA of a waiting job is the time until its start, as Slurm estimates it from time limits. ETA of
a running job is the time until its end, predicted from past runs of the same user, name and number of
GPUs, if at least five of these took longer than the job so far. It is never after the time limit. The
formats json and yaml contain the whole status with the source of each ETA (docs/status.schema.json),
csv only the jobs.`,
		Example: `  oxgang slurm observe
  oxgang slurm observe --mine --watch
  oxgang slurm observe -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckOutput(o.format, formats...); err != nil {
				return err
			}
			if o.history < 0 {
				return cli.Misused("--history %v, want a duration, or 0", o.history)
			}
			return slurmHinted(o.run(cmd))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.mine, "mine", false, "show only your jobs")
	f.BoolVarP(&o.watched, "watch", "w", false, "refresh every 2 s, less often if nothing changes or slurmctld is slow; on a terminal, use the whole screen")
	f.DurationVar(&o.history, "history", month, "time range of past runs for predicting ends; 0: none")
	cli.Output(cmd, &o.format, formats...)
	return cmd
}

func (o *observation) run(cmd *cobra.Command) error {
	o.learn(cmd.Context())
	o.width = cli.Columns(cmd.OutOrStdout())
	if !o.watched {
		return cli.Show(cmd, false, func(w io.Writer) error {
			_, err := o.show(cmd.Context(), w)
			return err
		})
	}
	pace, last := client.DefaultPace(), ""
	next := func(took time.Duration, page string) time.Duration {
		changed := page != last
		last = page
		return pace.Next(took, changed)
	}
	if o.format == "table" && cli.Terminal(cmd.OutOrStdout()) {
		return runScreen(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), func(ctx context.Context) (*status.Status, time.Duration, error) {
			now, took, err := o.status(ctx)
			if err != nil {
				return nil, next(took, last), err
			}
			var page strings.Builder
			_ = tables(&page, now, status.Options{}) // in memory
			return now, next(took, page.String()), nil
		})
	}
	for {
		var page strings.Builder
		took, err := o.show(cmd.Context(), &page)
		if err != nil {
			if cmd.Context().Err() != nil {
				return nil //nolint:nilerr // it was stopped while it asked
			}
			return err
		}
		if err := cli.Redraw(cmd.OutOrStdout(), page.String()); err != nil {
			return err
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(next(took, page.String())):
		}
	}
}

func (o *observation) learn(ctx context.Context) {
	runs, none := o.ask(ctx)
	if o.noPast = none; none == "" {
		o.past = view.HistoryOf(runs)
	}
}

func (o *observation) ask(ctx context.Context) ([]client.Run, string) {
	if o.history == 0 {
		return nil, "past runs are switched off"
	}
	runs, err := o.client.Accounting(ctx, time.Now().Add(-o.history))
	if err != nil {
		return nil, "past runs are unknown: " + err.Error()
	}
	return runs, ""
}

func (o *observation) status(ctx context.Context) (*status.Status, time.Duration, error) {
	look, took, err := o.take(ctx)
	if err != nil {
		return nil, took, err
	}
	now := view.StatusOf(look, o.past, o.noPast)
	if !o.mine {
		return now, took, nil
	}
	me, err := user.Current()
	if err != nil {
		return nil, took, err
	}
	now.Jobs = slices.DeleteFunc(now.Jobs, func(j status.Job) bool { return j.User != me.Username })
	return now, took, nil
}

func (o *observation) show(ctx context.Context, w io.Writer) (time.Duration, error) {
	now, took, err := o.status(ctx)
	if err != nil {
		return took, err
	}
	switch o.format {
	case "table":
		return took, tables(w, now, status.Options{Width: o.width})
	case "csv":
		return took, cli.Write(w, o.format, now.Jobs)
	}
	return took, cli.Write(w, o.format, now)
}

const slow = 2 * time.Second

func (o *observation) take(ctx context.Context) (*view.Look, time.Duration, error) {
	begin := time.Now()
	look, err := view.Take(ctx, o.client, time.Now)
	return look, time.Since(begin), err
}

func tables(w io.Writer, s *status.Status, o status.Options) error {
	s.WriteHead(w)
	if len(s.Jobs) == 0 {
		fmt.Fprintln(w, "no jobs")
	} else {
		fmt.Fprintln(w)
		if err := s.WriteJobs(w, s.Jobs, o); err != nil {
			return err
		}
	}
	return s.WriteIdle(w, o)
}

type configFlags struct {
	file string
	now  slurm.Config
	cmd  *cobra.Command
}

func (c *configFlags) add(cmd *cobra.Command) {
	c.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&c.file, "config", "", "configuration file")
	f.StringVar(&c.now.Partition, "partition", "", "partition whose jobs may opt in")
	f.StringSliceVar(&c.now.Accounts, "account", nil, "account whose jobs may opt in; repeat for more (default: any)")
	f.StringVar(&c.now.Policy, "policy", "", `policy (see "oxgang policies"; default srtf)`)
}

func (c *configFlags) read() (*slurm.Config, error) {
	next := slurm.DefaultConfig()
	if c.file != "" {
		read, err := slurm.ReadConfig(c.file)
		if err != nil {
			return nil, err
		}
		next = *read
	}
	for name, set := range map[string]func(){
		"partition": func() { next.Partition = c.now.Partition },
		"account":   func() { next.Accounts = c.now.Accounts },
		"policy":    func() { next.Policy = c.now.Policy },
		"mode":      func() { next.Mode = c.now.Mode },
		"dry-run":   func() { next.Dry = c.now.Dry },
	} {
		if f := c.cmd.Flags().Lookup(name); f != nil && f.Changed {
			set()
		}
	}
	if next.Partition == "" {
		return nil, cli.Usage(cli.Hinted(errors.New("no partition"), "set it with --partition, or in the file of --config"))
	}
	if err := next.Validate(); err != nil {
		return nil, cli.Usage(err)
	}
	return &next, nil
}
