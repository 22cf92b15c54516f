package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/opt/lbfgsb"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A Run is the result of simulating one policy.
type Run struct {
	Policy      string
	Result      *metrics.Result
	PolicyTimes []time.Duration // per round; not deterministic
	Refused     []string        // reasons of refused plans
	Gaps        []float64       // relative gap of each round's plan to its proven bound, if any
	Unfinished  bool            // ended early, by the context or the horizon
}

var errHorizon = errors.New("horizon reached")

// Simulate simulates the policy called name. The observers receive the scheduler's events and decisions. If ctx ends,
// the run is Unfinished.
func Simulate(ctx context.Context, c *config.Config, in *Inputs, name string, obs ...scheduler.Observer) (*Run, error) {
	return SimulateWatched(ctx, c, in, name, Watch{}, obs...)
}

// A Decider has the scheduler and the policy of a run, to plan rounds without simulating.
type Decider struct {
	Scheduler *scheduler.Scheduler
	Policy    policy.Policy // without the wrapper that measures planning times
	Placer    placement.Placer
	Options   scheduler.Options
	Cluster   *cluster.Cluster
	// Fresh makes another policy and placer of the same kind.
	Fresh func() (policy.Policy, placement.Placer, error)
}

// A Watch lists further ways to observe a run.
type Watch struct {
	// Observer, if not nil, makes one more observer, which is called last.
	Observer func(*Decider) scheduler.Observer
	Stream   metrics.Stream // receives each complete result at once
	// Whole disables the omission of jobs (scheduler.Options.Lean) and of reports (sim.Options.Sparse), so that
	// observers may keep plans and snapshots. The result of the run is the same.
	Whole bool
	// Once states that the inputs are not used again, so the run may free their arrivals early.
	Once bool
}

// SimulateWatched is Simulate, with a Watch.
func SimulateWatched(ctx context.Context, c *config.Config, in *Inputs, name string, w Watch, obs ...scheduler.Observer) (*Run, error) {
	entry, err := registry.Find(name)
	if err != nil {
		return nil, err
	}
	p, err := NewPolicy(c, name)
	if err != nil {
		return nil, err
	}
	return in.simulate(ctx, c, decides{entry, p}, w, obs)
}

// FirstRefusal returns a clause with the number of refused plans and the first reason, or "".
func (r *Run) FirstRefusal() string {
	if len(r.Refused) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d plans were refused, the first: %s", len(r.Refused), r.Refused[0])
}

// NewPolicy makes the policy called name, with its settings in configuration c.
func NewPolicy(c *config.Config, name string) (policy.Policy, error) {
	entry, err := registry.Find(name)
	if err != nil {
		return nil, err
	}
	names := entry.SettingNames()
	settings, err := c.SettingsOf(name, names)
	if err != nil {
		return nil, err
	}
	if _, set := settings["rules"]; c.Public && !set && slices.Contains(names, "rules") {
		settings["rules"] = "public-code"
	}
	return registry.New(name, settings)
}

type decides struct {
	entry  registry.Entry
	policy policy.Policy
}

func (d *decides) again(c *config.Config) *Remake { return &Remake{config: c, entry: d.entry} }

func (in *Inputs) simulate(ctx context.Context, c *config.Config, d decides, w Watch, obs []scheduler.Observer) (*Run, error) {
	entry, p := d.entry, d.policy
	traits := p.Traits()
	so, wo, err := options(c, in, traits)
	if err != nil {
		return nil, err
	}
	so.Lean, wo.Sparse = !w.Whole, sparse(c, traits, w, obs)
	nodes := nodesFor(in.Cluster, traits)
	if !starts(nodes, traits) {
		return nil, fmt.Errorf("%s: cannot rent nodes, and the cluster has no others; add nodes without /rent, /spot or /loan, or use a policy that rents: %s", entry.Name, strings.Join(renting(), ", "))
	}
	world, err := sim.New(nodes, in.Catalog, in.Arrivals, wo)
	if err != nil {
		return nil, err
	}
	placer, err := entry.NewPlacer(c.Placer, registry.PlacerOptions{Penalty: c.Penalty})
	if err != nil {
		return nil, err
	}
	measured, err := in.window(c)
	if err != nil {
		return nil, err
	}
	rec, err := in.recorder(c, measured, w.Stream)
	if err != nil {
		return nil, err
	}
	arrivals := len(in.Arrivals)
	if w.Once {
		in.Arrivals = nil
	}
	run := &Run{Policy: entry.Name}
	s, err := scheduler.New(&timed{p, rec}, placer, nodes, so)
	if err != nil {
		return nil, err
	}
	if w.Observer != nil {
		obs = append(obs, w.Observer(&Decider{s, p, placer, so, nodes, d.again(c).Fresh}))
	}
	refused := &watcher{run}
	err = s.Run(ctx, &bounded{measured.through(world), c.Horizon}, append([]scheduler.Observer{rec, refused, &gaps{run: run}}, obs...)...)
	if errors.Is(err, errHorizon) || ctx.Err() != nil {
		run.Unfinished, err = true, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", entry.Name, err, run.FirstRefusal())
	}
	run.PolicyTimes = rec.PolicyTimes()
	if arrivals >= manyResults {
		debug.FreeOSMemory() // frees the world's memory: the list of results is as large
	}
	run.Result = rec.Finish() // last, so that records are freed while the list is built
	return run, nil
}

const manyResults = 200_000

// sparse reports whether redundant reports may be omitted: nothing uses the progress of running jobs. At a
// horizon their last report counts.
func sparse(c *config.Config, traits policy.Traits, w Watch, obs []scheduler.Observer) bool {
	return traits.IgnoresProgress && !w.Whole && w.Observer == nil && c.Horizon == 0 &&
		!slices.ContainsFunc(obs, func(o scheduler.Observer) bool { _, does := o.(scheduler.Unreported); return !does })
}

func renting() []string {
	var names []string
	for _, e := range registry.Policies() {
		if e.Traits().Rents {
			names = append(names, e.Name)
		}
	}
	return names
}

// nodesFor returns the nodes for a policy: nodes for rent (else all owned nodes as such) if it rents;
// otherwise owned nodes and nodes for loan.
func nodesFor(c *cluster.Cluster, t policy.Traits) *cluster.Cluster {
	if t.Rents {
		return without(c, cluster.Loaned).ForRent()
	}
	return without(c, cluster.Rented)
}

func without(c *cluster.Cluster, t cluster.Tenure) *cluster.Cluster {
	of := func(n cluster.Node) bool { return n.Tenure == t }
	if !slices.ContainsFunc(c.Nodes(), of) {
		return c
	}
	return c.Without(func(id cluster.NodeID) bool {
		i, _ := c.Index(id)
		return of(c.Nodes()[i])
	})
}

func starts(c *cluster.Cluster, t policy.Traits) bool {
	return len(c.Held().Nodes()) > 0 || t.Rents && len(c.Offers()) > 0 || t.Borrows && len(c.Loans()) > 0
}

func (in *Inputs) recorder(c *config.Config, w window, stream metrics.Stream) (*metrics.Recorder, error) {
	if len(in.Arrivals) > 0 && in.measured(c) == 0 {
		return nil, fmt.Errorf("measure.skip-queues %s: no job is left to measure", strings.Join(c.Skipped, ","))
	}
	o := metrics.DefaultOptions()
	o.Stream = stream
	o.Measured = func(spec *job.Spec) bool { return w.measures(spec) && !skips(c, spec) }
	o.UnfairAbove = c.Fairness.Above
	if in.static(c) {
		o.Fair = in.fair()
	} else {
		o.Isolated = isolated(in)
	}
	return metrics.New(o)
}

func options(c *config.Config, in *Inputs, traits policy.Traits) (scheduler.Options, sim.Options, error) {
	so, wo := c.Scheduler, c.Sim
	mode, err := estimate.ParseMode(c.Estimate)
	if err != nil {
		return so, wo, err
	}
	if c.Public {
		mode = estimate.PublicCode
		publicRules(c, &so, &wo)
	}
	so.Estimate.ReferenceFirst = so.Profile && c.IsSet("scheduler.profile")
	so.Profile = so.Profile && traits.Models && mode == estimate.Bootstrap
	so.Estimate.Mode = mode
	so.Estimate.Fits = estimate.NewCache()
	so.Estimate.Fits.Minimize = lbfgsb.WithTolerance()
	so.Estimate.Reference = in.references()
	so.Estimate.Oracle = func(spec *job.Spec) estimate.Throughput { return in.truth(spec) }
	so.Estimate.Sensitivity = func(spec *job.Spec) *perf.Sensitivity {
		if app := in.application(spec); app != nil {
			return app.Sensitivity
		}
		return nil
	}
	so.Estimate.Share = so.Estimate.Share || traits.Pools && !c.IsSet("estimate.share")
	so.Estimate.Seed = c.Sim.Seed
	wo.Estimate = so.Estimate
	if so.Classes = so.Classes || traits.Classes; so.Classes && c.Classes == config.Known {
		so.Known = in.known(&so.Estimate)
	}
	wo.ReportEpochs = so.Classes
	in.lender(c, &wo.Lender)
	return so, wo, nil
}

func (in *Inputs) known(o *estimate.Options) func(time.Time) []*perf.ClassStats {
	all := workload.Classes(in.Arrivals, in.application)
	for _, c := range all {
		if in.restart != nil {
			c.Restart = *in.restart
		}
		c.Speeds = wrong{c.Speeds, o, c.Class}
	}
	return func(time.Time) []*perf.ClassStats { return all }
}

type wrong struct {
	truth perf.EpochSpeeds
	o     *estimate.Options
	class job.Class
}

func (w wrong) At(epoch int, at cluster.Configuration) float64 {
	return w.truth.At(epoch, at) * w.o.Factor(w.class, at)
}

func publicRules(c *config.Config, so *scheduler.Options, wo *sim.Options) {
	for key, rule := range map[string]*bool{
		"scheduler.free-moves": &so.FreeMoves, "sim.round-epochs": &wo.Public.RoundEpochs,
		"sim.retune-on-epoch": &wo.Public.RetuneOnEpoch, "sim.wide-batch-range": &wo.Public.WideBatchRange,
	} {
		*rule = *rule || !c.IsSet(key)
	}
	if !c.IsSet("sim.report-interval") {
		wo.ReportInterval = so.Round
	}
}

func (in *Inputs) application(spec *job.Spec) *workload.Application {
	if app, ok := in.byJob[spec.ID]; ok {
		return app
	}
	return in.Catalog[string(spec.Class)]
}

func (in *Inputs) references() func(*job.Spec, cluster.GPUType) float64 {
	type key struct {
		app *workload.Application
		t   cluster.GPUType
	}
	known := make(map[key]float64)
	return func(spec *job.Spec, t cluster.GPUType) float64 {
		k := key{in.application(spec), t}
		if k.app == nil {
			return 1
		}
		x, ok := known[k]
		if !ok {
			x = k.app.Reference(t)
			known[k] = x
		}
		return x
	}
}

func (in *Inputs) truth(spec *job.Spec) estimate.Throughput {
	app := in.application(spec)
	if app == nil {
		app, _ = in.steady(spec, new(workload.Steadies))
		return func(a cluster.Allocation, _ job.BatchSize) float64 {
			return app.Throughput(a.Configuration, job.BatchSize{Local: 1})
		}
	}
	return func(a cluster.Allocation, b job.BatchSize) float64 {
		return app.Throughput(a.Configuration, b)
	}
}

type timed struct {
	policy.Policy
	rec *metrics.Recorder
}

func (t *timed) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	start := time.Now()
	p, err := t.Policy.Plan(ctx, s)
	t.rec.AddPolicyTime(time.Since(start))
	return p, err
}

type bounded struct {
	scheduler.Backend
	horizon time.Duration
}

func (b *bounded) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	end := sim.Epoch.Add(b.horizon)
	if b.horizon == 0 || !deadline.After(end) {
		return b.Backend.Next(ctx, deadline)
	}
	ev, err := b.Backend.Next(ctx, end)
	if ev == nil && err == nil {
		err = errHorizon
	}
	return ev, err
}

type watcher struct{ run *Run }

func (*watcher) Event(time.Time, scheduler.Event) {}

func (w *watcher) Round(_ *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	if p.Refused != "" {
		w.run.Refused = append(w.run.Refused, strings.SplitN(p.Refused, "\n", 2)[0])
	}
}
