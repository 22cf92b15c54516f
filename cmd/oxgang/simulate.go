package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/experiments"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/report"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/sim"
)

// simulation is one call of oxgang simulate.
type simulation struct {
	flags  configFlags
	format string
	out    string
	html   string
	seeds  int
	quiet  bool
	config *config.Config
	stderr io.Writer
}

func simulateCommand() *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Run a trace under one or more policies, and compare them",
		Long: `Run a trace under one or more policies on a simulated cluster. Without --trace
and --profiles it generates a Philly-like trace and uses embedded, fitted models.
The table goes to standard output, progress to standard error.`,
		Example: `  oxgang simulate
  oxgang simulate --cluster hetero64 --trace w.csv --policy sia,fifo,srtf --out run/
  oxgang simulate --policy sia --set p=-1 --seeds 5 -o csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if s.config, err = s.flags.load(cmd); err != nil {
				return err
			}
			s.stderr = cmd.ErrOrStderr()
			return s.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	s.flags.add(cmd.Flags())
	f := cmd.Flags()
	f.StringVarP(&s.format, "output", "o", "table", "table, wide, json, yaml or csv")
	f.StringVar(&s.out, "out", "", "folder for journals (.oxj), results, plots' data and the report")
	f.StringVar(&s.html, "report", "oxgang-report.html", "HTML report to write; empty: none")
	f.IntVar(&s.seeds, "seeds", 1, "seeds to run, from --seed on, as so many rows")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no progress")
	return cmd
}

// task is one policy under one seed.
type task struct {
	name   string // of the row
	policy string
	config *config.Config
	inputs *experiments.Inputs
	run    *experiments.Run
}

func (s *simulation) run(ctx context.Context, stdout io.Writer) error {
	if !validFormat(s.format) {
		return usageError{fmt.Errorf("output %q, want one of %v", s.format, report.Formats())}
	}
	tasks, err := s.plan()
	if err != nil {
		return err
	}
	if s.out != "" {
		if err := os.MkdirAll(s.out, 0o755); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	bar := newProgress(s.stderr, s.quiet, len(tasks), len(tasks[0].inputs.Arrivals))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range tasks {
		g.Go(func() error { return s.simulate(ctx, t, bar) })
	}
	err = g.Wait()
	bar.done()
	if err != nil {
		return err
	}
	return s.show(ctx, stdout, tasks)
}

// plan returns the tasks, with inputs loaded once per seed.
func (s *simulation) plan() ([]*task, error) {
	var tasks []*task
	for i := range max(1, s.seeds) {
		c := *s.config
		c.Sim.Seed += uint64(i)
		in, err := experiments.Load(&c, osFiles())
		if err != nil {
			return nil, err
		}
		if len(in.Arrivals) == 0 {
			return nil, errors.New("the trace has no jobs")
		}
		if i == 0 {
			s.tell(in)
		}
		for _, p := range c.Policies {
			t := &task{name: p, policy: p, config: &c, inputs: in}
			if s.seeds > 1 {
				t.name = fmt.Sprintf("%s (seed %d)", p, c.Sim.Seed)
			}
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

// tell says what of a trace was dropped, skipped or invented.
func (s *simulation) tell(in *experiments.Inputs) {
	if in.Read != nil && len(in.Read.Notes)+in.Read.Bad > 0 {
		fmt.Fprint(s.stderr, in.Read)
	}
	for _, err := range in.Skipped[:min(10, len(in.Skipped))] {
		fmt.Fprintf(s.stderr, "skipped: %v\n", err)
	}
	if n := len(in.Skipped); n > 0 {
		fmt.Fprintf(s.stderr, "%d jobs were skipped that this cluster could never run\n", n)
	}
}

func (s *simulation) simulate(ctx context.Context, t *task, bar *progress) error {
	obs := []scheduler.Observer{bar.observer()}
	var close func() error
	if s.out != "" {
		w, done, err := s.journal(t)
		if err != nil {
			return err
		}
		obs, close = append(obs, w), done
	}
	var err error
	t.run, err = experiments.Simulate(ctx, t.config, t.inputs, t.policy, obs...)
	if close != nil {
		err = errors.Join(err, close())
	}
	return err
}

// journal opens the journal of a task; done writes it out and closes it.
func (s *simulation) journal(t *task) (w *journal.Writer, done func() error, err error) {
	f, err := os.Create(filepath.Join(s.out, fileName(t)+".oxj"))
	if err != nil {
		return nil, nil, err
	}
	h := journal.Header{
		Tool: "oxgang " + version(), Policy: t.policy, Seed: t.config.Sim.Seed,
		Start: sim.Epoch, Round: t.config.Scheduler.Round, Cluster: t.inputs.Cluster,
	}
	for _, k := range config.Keys() {
		h.Settings = append(h.Settings, journal.Setting{Name: k.Name, Value: t.config.Get(k.Name)})
	}
	w = journal.NewWriter(f, h)
	return w, func() error { return errors.Join(w.Close(), f.Close()) }, nil
}

func fileName(t *task) string {
	if t.name == t.policy {
		return t.policy
	}
	return fmt.Sprintf("%s-%d", t.policy, t.config.Sim.Seed)
}

// show writes the table, the report, and what was asked for in files.
func (s *simulation) show(ctx context.Context, stdout io.Writer, tasks []*task) error {
	runs := make([]report.Run, len(tasks))
	for i, t := range tasks {
		runs[i] = report.Run{Name: t.name, Result: t.run.Result, PolicyTimes: t.run.PolicyTimes}
		if t.run.Unfinished {
			runs[i].Name += " (unfinished)"
		}
		for _, why := range t.run.Refused[:min(3, len(t.run.Refused))] {
			fmt.Fprintf(s.stderr, "%s: %s\n", t.name, why)
		}
		if n := len(t.run.Refused); n > 0 {
			fmt.Fprintf(s.stderr, "%s: %d plans were refused; each time the last plan stayed\n", t.name, n)
		}
	}
	if err := report.Table(stdout, runs, report.Format(s.format)); err != nil {
		return err
	}
	if err := report.Times(s.stderr, runs); err != nil {
		return err
	}
	if err := s.files(runs); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted; what was finished is shown")
	}
	return nil
}

func validFormat(name string) bool {
	for _, f := range report.Formats() {
		if string(f) == name {
			return true
		}
	}
	return false
}

func osFiles() experiments.Files {
	return experiments.Files{
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Dir:  func(name string) fs.FS { return os.DirFS(name) },
	}
}
