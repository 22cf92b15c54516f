package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/scheduler/metrics/statistics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
	"github.com/oxgang/oxgang/simulate/whatif"
)

type simulation struct {
	flags  cli.ConfigFlags
	format string
	out    string
	html   string
	seeds  int
	each   bool
	quiet  bool
	bound  bool
	config *config.Config
	stderr io.Writer
	stage  *cli.Stage
	past   historyFlags
	tables string
	nodes  string
}

// Command returns the command "oxgang simulate".
func Command() *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Simulate a trace under one or more policies, and compare them",
		Long: `Simulate a trace under one or more policies. By default, generate a Philly-like trace and use
embedded models. The verdict above the table names the best policy, its lead, and whether that is
more than chance. If a run fails, its row has the reason, and the exit status is 1.

` + report.Conventions,
		Example: `  oxgang simulate
  oxgang simulate --cluster hetero64 --trace w.csv --policy oxgang,easy,srtf --out run/
  oxgang simulate --policy sia --set p=-1 --seeds 5 -o csv
  oxgang simulate --from-cluster --since 30d   # your cluster's jobs, under other policies`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if s.config, err = s.flags.Load(cmd); err != nil {
				return err
			}
			s.stderr, s.each = cmd.ErrOrStderr(), cmd.Flags().Changed("seeds")
			return s.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	s.flags.Add(cmd.Flags())
	cli.CompleteSettings(cmd)
	f := cmd.Flags()
	s.past.add(f)
	f.StringVarP(&s.format, "output", "o", "table", "table, wide, json, yaml or csv")
	cli.Complete(cmd, "output", formatNames())
	f.StringVar(&s.out, "out", "", "directory for journals (.oxj), results, plot data and the report")
	f.StringVar(&s.tables, "results", "", "also write tables of jobs, rounds and allocations to --out: csv or parquet")
	cli.Complete(cmd, "results", []string{"csv", "parquet"})
	f.StringVar(&s.html, "report", "oxgang-report.html", "HTML report; empty: none")
	f.StringVar(&s.nodes, "slurm-nodes", "", "file with the nodes, instead of --cluster: output of "+slurm.NodesCommand+` or sinfo -o "%D %G"`)
	f.IntVar(&s.seeds, "seeds", 0, fmt.Sprintf("number of seeds, from --seed on, each with its rows; default: the mean of %d seeds to compare policies on a generated trace, otherwise 1", compared))
	f.BoolVarP(&s.quiet, "quiet", "q", false, "show no progress")
	f.BoolVar(&s.bound, "bound", false, "also print a lower bound on the mean JCT")
	cli.GroupFlags(cmd, groups...)
	return cmd
}

var groups = []cli.FlagGroup{
	{Heading: "Jobs", Flags: []string{"trace", "generate-kind", "generate-jobs", "from-cluster", "since"}, Brief: map[string]string{
		"from-cluster": "simulate the jobs of your Kubernetes cluster, and compare",
	}},
	{Heading: "GPUs", Flags: []string{"cluster", "slurm-nodes", "profiles"}, Brief: map[string]string{
		"cluster":     `preset, or nodes and GPUs per node: "t4:6x4,a100:2x8"`,
		"slurm-nodes": "file with the nodes of a Slurm cluster, instead of --cluster",
		"profiles":    "directory of measured profiles",
	}},
	{Heading: "Policies", Flags: []string{"policy", "set", "round", "seed", "seeds"}, Brief: map[string]string{
		"set":   `settings of policies or of the configuration: "sia.p=-1,sim.bias=0.1"`,
		"seeds": "number of seeds, each with its rows",
	}},
	{Heading: "Output", Flags: []string{"output", "out", "results", "report", "quiet"}},
	{Heading: "Help and configuration", Flags: []string{"config", "help", "help-all"}},
}

type task struct {
	name   string // of the row
	policy string
	config *config.Config
	Inputs *run.Inputs
	run    *run.Run // nil if it failed
	failed error
	trial  statistics.Trial // of run
	once   bool             // no other task uses its inputs' arrivals
	aside  bool
}

func (s *simulation) run(ctx context.Context, stdout io.Writer) (err error) {
	if !slices.Contains(formatNames(), s.format) {
		return cli.CheckOutput(s.format, formatNames()...)
	}
	if err := s.checkTables(); err != nil {
		return err
	}
	if s.each && s.seeds < 1 {
		return cli.Misused("seeds %d, want at least 1", s.seeds)
	}
	if s.seeds > 1 && s.config.Trace == "-" {
		return cli.Misused("seeds %d: a trace on standard input can be read only once; use a file", s.seeds)
	}
	if err := slurmNodes(ctx, s.config, s.nodes, s.stderr); err != nil {
		return err
	}
	if err := s.past.load(ctx, s.config, history.Options{}, s.stderr); err != nil {
		return err
	}
	s.chooseSeeds()
	tasks, err := s.plan(ctx)
	if err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if s.stage != nil {
		defer func() { err = errors.Join(err, s.stage.Discard()) }()
	}
	s.say("%d runs of %d jobs on %d GPUs\n", len(tasks), len(tasks[0].Inputs.Arrivals), tasks[0].Inputs.Cluster.GPUs())
	s.say("%s", rigidHint(tasks[0].Inputs, s.config.Policies))
	bar := cli.NewProgress(s.stderr, s.quiet, jobsOf(tasks))
	err = s.simulateAll(ctx, tasks, bar)
	bar.Done()
	if err != nil {
		return err
	}
	if err = failures(tasks); err != nil && !slices.ContainsFunc(tasks, func(t *task) bool { return t.run != nil }) {
		return err
	}
	return errors.Join(s.show(ctx, stdout, tasks), err)
}

func jobsOf(tasks []*task) int {
	jobs := 0
	for _, t := range tasks {
		jobs += len(t.Inputs.Arrivals)
	}
	return jobs
}

func (s *simulation) plan(ctx context.Context) ([]*task, error) {
	var tasks []*task
	for i := range s.seeds {
		c := *s.config
		c.Sim.Seed += uint64(i)
		in, err := run.Load(&c, s.past.files(ctx))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			s.printHint(in)
		}
		if len(in.Arrivals) == 0 {
			return nil, errors.New("the trace has no jobs")
		}
		for _, p := range c.Policies {
			t := &task{name: p, policy: p, config: &c, Inputs: in, once: s.forgets(), aside: !s.each && i > 0}
			if s.each && s.seeds > 1 || t.aside {
				t.name = fmt.Sprintf("%s (seed %d)", p, c.Sim.Seed)
			}
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

func (s *simulation) forgets() bool {
	return len(s.config.Policies) == 1 && !s.bound && s.past.History == nil
}

func (s *simulation) printHint(in *run.Inputs) {
	if in.Read != nil && len(in.Read.Notes)+in.Read.Bad > 0 {
		fmt.Fprint(s.stderr, in.Read)
	}
	for _, err := range in.Skipped[:min(10, len(in.Skipped))] {
		fmt.Fprintf(s.stderr, "skipped: %v\n", err)
	}
	if n := len(in.Skipped); n > 0 {
		fmt.Fprintf(s.stderr, "skipped jobs that can never run on this cluster: %d\n", n)
	}
}

func (s *simulation) simulateAll(ctx context.Context, tasks []*task, bar *cli.Progress) error {
	outputs := make([]*output, len(tasks))
	for i, t := range tasks {
		var err error
		if outputs[i], err = s.output(t); err != nil {
			return err
		}
		defer func() { _ = outputs[i].close() }()
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range tasks {
		g.Go(func() error {
			err := t.simulate(ctx, outputs[i], bar.Observer())
			t.judge()
			return err
		})
	}
	return g.Wait()
}

func (t *task) simulate(ctx context.Context, out *output, obs ...scheduler.Observer) (err error) {
	if out.journal == nil {
		t.run, t.failed = run.SimulateWatched(ctx, t.config, t.Inputs, t.policy, run.Watch{Once: t.once, Stream: out.stream()}, obs...)
		return out.close()
	}
	w := journal.NewWriter(out.journal, run.Header(t.config, t.Inputs, t.policy, "oxgang "+cli.Version()))
	defer func() { err = errors.Join(err, w.Close(), out.close()) }()
	watch := run.Watch{Once: t.once, Stream: out.stream(), Observer: func(d *run.Decider) scheduler.Observer {
		run := whatif.Run{Scheduler: d.Scheduler, Policy: d.Policy, Placer: d.Placer, Options: d.Options, Cluster: d.Cluster, Fresh: d.Fresh}
		return whatif.NewCheckpointer(run, w)
	}}
	t.run, t.failed = run.SimulateWatched(ctx, t.config, t.Inputs, t.policy, watch, append(obs, w)...)
	return nil
}

func fileName(t *task) string {
	if t.name == t.policy {
		return t.policy
	}
	return fmt.Sprintf("%s-%d", t.policy, t.config.Sim.Seed)
}

func (s *simulation) show(ctx context.Context, stdout io.Writer, tasks []*task) error {
	for _, t := range tasks {
		if t.run != nil {
			s.refused(t)
		}
	}
	runs := s.rows(tasks, ctx.Err() != nil)
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t *task) bool { return t.aside })
	t := s.fidelity(runs, tasks)
	distrust(runs, t)
	all := runs
	if t != nil {
		o, err := history.ObservedRun(s.past.Jobs(), tasks[0].Inputs.Arrivals, tasks[0].Inputs.Cluster)
		if err != nil {
			return err
		}
		o.Compare([]statistics.Trial{report.Trial(o.Name, 0, o.Result)}, nil)
		all = append([]report.Run{o}, runs...)
	}
	if err := s.files(all, t); err != nil {
		return err
	}
	if t != nil && (s.format == string(report.Text) || s.format == string(report.Wide)) {
		if err := history.WriteTrust(stdout, s.past.baseline, t, history.Assumptions(s.config)); err != nil {
			return err
		}
	}
	if err := report.Table(stdout, all, report.Format(s.format)); err != nil {
		return err
	}
	if err := s.compare(stdout, runs); err != nil {
		return err
	}
	if s.bound && (s.format == string(report.Text) || s.format == string(report.Wide)) {
		if err := lowerBound(stdout, tasks); err != nil {
			return err
		}
	}
	if !s.quiet {
		if err := report.Times(s.stderr, runs); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w; finished runs are shown", cli.ErrInterrupted)
	}
	return nil
}

func (s *simulation) compare(w io.Writer, runs []report.Run) error {
	if s.past.History == nil || s.format != string(report.Text) && s.format != string(report.Wide) {
		return nil
	}
	var names []string
	var results []*metrics.Result
	for i := range runs {
		if runs[i].Result != nil {
			names, results = append(names, runs[i].Name), append(results, runs[i].Result)
		}
	}
	return history.Compare(s.past.Jobs(), s.past.baseline, names, results...).Write(w)
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, string(f))
	}
	return names
}

// rigidHint returns a hint for comparisons with sia if nine of ten jobs run only as submitted, on one GPU type;
// sia then has few choices.
func rigidHint(in *run.Inputs, policies []string) string {
	rigid := 0
	for i := range in.Arrivals {
		if in.Arrivals[i].Spec.Adaptivity&(job.GPUCount|job.BatchSizes) == 0 {
			rigid++
		}
	}
	if !slices.Contains(policies, "sia") || len(in.Cluster.Types()) > 1 || 10*rigid < 9*len(in.Arrivals) {
		return ""
	}
	return fmt.Sprintf("hint: %d of %d jobs run only as submitted, on one GPU type. sia only chooses when to start them, and does not order them by length. Compare it with srtf and easy (docs/policies.md#sia-on-rigid-jobs).\n", rigid, len(in.Arrivals))
}
