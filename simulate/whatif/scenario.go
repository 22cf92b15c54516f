package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

const mostComing = 200

type scenario struct {
	between time.Duration // between submissions of new jobs; 0: no new jobs
	best    bool          // beyond what was measured in its class, a job is as fast as possible
}

type outcome struct {
	start, end time.Duration      // negative: it did not happen
	got        cluster.Allocation // at its start
	price      float64            // of a GPU of its type in the round of its start; 0: the policy has no prices
	why        Why
	awaited    bool // the scenario continues until the job has ended or, if its end cannot be known, started
}

type simulatedWorld struct {
	*sim.World
	outcomes map[job.ID]*outcome
	open     int      // number of awaited jobs
	rounds   int      // remaining, of normal length
	plans    int      // remaining; 0: no limit
	stopped  bool     // by the limit of plans, or by the deadline
	idle     int      // rounds since an awaited event, or since an awaited job had GPUs
	patience int      // idle rounds after which nothing is awaited any more; 0: no limit
	held     *service // may be nil
	coarse   coarse
	awaited  []job.ID // Options.Awaited
	begun    int      // jobs that got GPUs for the first time
	played   int      // rounds
	refused  int
	planned  int // rows of all snapshots
	// asked has the submitted specifications of jobs that their programs described when they first trained;
	// spec has the described ones, until that report.
	asked, spec map[job.ID]*job.Spec
	later       scheduler.Event // next result of Next
}

// mostRows limits the rows of all snapshots of a scenario together, which are its cost.
const mostRows = 1_000_000

// mostIdle is the number of rounds without an awaited event after which a scenario stops: the policy may never
// start a job.
const mostIdle = 3000

func (c scenario) run(ctx context.Context, s *policy.Snapshot, o *Options) (*future, error) {
	in, err := c.setting(s, o)
	if err != nil {
		return nil, err
	}
	w := &simulatedWorld{outcomes: in.outcomes, open: in.open, rounds: o.Rounds, plans: max(1, mostRows/max(1, len(s.Jobs))), patience: mostIdle, coarse: coarse{share: o.Coarse, length: s.Length}, awaited: o.Awaited}
	if w.World, err = sim.New(in.cluster, in.catalog, in.arrivals, in.options); err != nil {
		return nil, err
	}
	so := in.scheduler(s, o)
	p, placer, err := o.decider(ctx, s, &so)
	if err != nil {
		return nil, err
	}
	f := &future{outcomes: w.outcomes, rest: Beyond, promised: promises(p, s)}
	sch, err := scheduler.New(p, placer, in.cluster, so)
	if err != nil {
		return nil, err
	}
	rounds := w.rounds
	if err = sch.Run(ctx, w, w); errors.Is(err, context.DeadlineExceeded) {
		w.stopped, err = true, nil
	}
	if w.stopped {
		f.rest = TooLong
	}
	if o.rows != nil {
		*o.rows += w.planned
	}
	f.length = time.Duration(rounds-w.rounds) * s.Length
	return f, err
}

// promises returns by when a policy that continues a run promises the starts of jobs; nil if it promises none.
func promises(p policy.Policy, s *policy.Snapshot) map[job.ID]time.Time {
	if r, ok := p.(*resumed); ok {
		if of, ok := r.Policy.(policy.Promiser); ok {
			return of.Promised(s)
		}
	}
	return nil
}

// Next implements scheduler.Backend. It returns io.EOF after the last round, or once all awaited starts and ends have
// happened.
func (w *simulatedWorld) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	if w.open == 0 || w.rounds == 0 || w.stopped || w.patience > 0 && w.idle > w.patience {
		return nil, io.EOF
	}
	if ev := w.later; ev != nil {
		w.later = nil
		return ev, nil
	}
	ev, err := w.World.Next(ctx, w.coarse.ends(deadline, w.World.Now()))
	if ev == nil && err == nil {
		n := w.coarse.ended(deadline, w.World.Now())
		w.rounds = max(0, w.rounds-n)
		if w.plans--; w.plans == 0 {
			w.stopped = true
		}
		w.idle += n
	}
	w.coarse.heard(ev)
	return w.describe(ev), err
}

// describe replaces events so that the scheduler has a job's submitted specification until its first report, as
// in the recorded run.
func (w *simulatedWorld) describe(ev scheduler.Event) scheduler.Event {
	switch e := ev.(type) {
	case scheduler.Submitted:
		if asked := w.asked[e.Spec.ID]; asked != nil {
			w.spec[e.Spec.ID] = e.Spec
			return scheduler.Submitted{Spec: asked}
		}
	case scheduler.Reported:
		if spec := w.spec[e.Job]; spec != nil {
			delete(w.spec, e.Job)
			w.later = ev
			return scheduler.Described{Spec: spec}
		}
	}
	return ev
}

func (w *simulatedWorld) Event(now time.Time, ev scheduler.Event) {
	if w.held != nil {
		w.held.event(now, ev)
	}
	e, ok := ev.(scheduler.Exited)
	f := w.outcomes[e.Job]
	if !ok || f == nil || f.end >= 0 || e.Outcome == scheduler.Lost { // a job that lost its GPUs continues
		return
	}
	if e.Outcome == scheduler.Failed { // its model cannot run on the GPUs that it got
		f.why = cmp.Or(f.why, NoSpeed)
	} else {
		f.end = now.Sub(sim.Epoch)
	}
	w.close(f)
}

func (w *simulatedWorld) close(f *outcome) {
	if f.awaited {
		f.awaited = false
		w.open--
		w.idle = 0
	}
}

func (w *simulatedWorld) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	w.planned += len(s.Jobs)
	if w.nears(s) {
		w.idle = 0
	}
	if p.Refused != "" {
		w.refused++
	}
	if w.held != nil {
		w.held.acted(s.Now, acts)
	}
	if w.played++; w.hopeless(s, p) {
		w.stopped = true
	}
	for _, a := range acts {
		if r, ok := a.(scheduler.Run); ok {
			if f := w.outcomes[r.Job]; f != nil && f.start < 0 {
				w.begun++
				f.got, f.price = r.Allocation, priceOf(p, r.Allocation.GPUType)
				w.started(f, s.Now.Sub(sim.Epoch))
				w.idle = 0
			}
		}
	}
}

func priceOf(p *policy.Plan, t cluster.GPUType) float64 {
	for _, x := range p.Prices {
		if x.Type == t {
			return x.Price
		}
	}
	return 0
}

func (w *simulatedWorld) nears(s *policy.Snapshot) bool {
	return s.Continuing != nil && s.Continuing.Jobs > 0 || slices.ContainsFunc(s.Jobs, func(j *policy.Job) bool {
		f := w.outcomes[j.ID]
		return j.Holding() && f != nil && f.awaited && f.why == Known
	})
}

func (w *simulatedWorld) started(f *outcome, at time.Duration) {
	if f.start = at; f.why != Known {
		w.close(f)
	}
}

type setting struct {
	cluster  *cluster.Cluster
	catalog  workload.Catalog
	arrivals []workload.Arrival
	options  sim.Options
	truths   map[job.ID]*truth
	outcomes map[job.ID]*outcome
	open     int
}

func (c scenario) setting(s *policy.Snapshot, o *Options) (*setting, error) {
	in := &setting{catalog: workload.Catalog{}, options: sim.DefaultOptions(), truths: map[job.ID]*truth{}, outcomes: map[job.ID]*outcome{}}
	var err error
	if in.cluster, err = owned(s.Cluster); err != nil {
		return nil, err
	}
	in.options.ReportInterval, in.options.Initial = s.Length, map[job.ID]*sim.InitialState{}
	for _, j := range s.Jobs {
		in.outcomes[j.ID] = &outcome{start: -1, end: -1}
		if sim.Fits(in.cluster, j.Spec) == nil {
			in.add(s, j, o.Measured[j.ID], c.best)
		}
		if f := in.outcomes[j.ID]; f.awaited && !o.awaits(j.ID) {
			f.awaited = false
			in.open--
		}
	}
	if c.between > 0 {
		in.come(c, s, o.Rounds)
	}
	in.options.Estimate = in.beliefs(o.Scheduler.Estimate)
	return in, nil
}

func owned(c *cluster.Cluster) (*cluster.Cluster, error) {
	nodes := append([]cluster.Node(nil), c.Nodes()...)
	for i := range nodes {
		nodes[i].Tenure = cluster.Owned
	}
	own, err := cluster.New(nodes)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return own, nil
}

func (in *setting) add(s *policy.Snapshot, j *policy.Job, m Measured, best bool) {
	f, t := in.outcomes[j.ID], &truth{spec: j.Spec, model: j.Perf, believed: j.Perf, input: j.Sensitivity, factor: 1, target: target(s, j), delay: j.RestartOverhead, pieces: m.pieces, best: best, done: j.Done(s.Now)}
	if m.Model != nil && j.Perf != nil {
		t.model = m.Model
	}
	if m.Pace > 0 {
		t.factor /= m.Pace
	}
	if m.Delay > 0 {
		t.delay = m.Delay
	}
	lasts := time.Duration(0)
	switch {
	case j.Perf == nil && m.remaining > 0:
		lasts = perf.Seconds(m.remaining / float64(max(1, j.Spec.GPUs)))
	case j.Perf == nil:
		f.why, t.target = NoSpeed, 0
	case t.target <= 0:
		f.why = NoTarget
	}
	if f.awaited = f.why == Known || !j.Holding(); f.awaited {
		in.open++
	}
	later := j.Submitted.Sub(s.Now) // of a job on trial
	if later <= s.Length {
		later = 0
	}
	if lasts > 0 {
		in.last(s, j, m, lasts, later)
		return
	}
	if in.arrive(t, later); later == 0 {
		in.options.Initial[j.ID] = initialState(s, j, t, m)
	}
}

// last adds a copy of a job of unknown speed, with the remaining duration of its class.
func (in *setting) last(s *policy.Snapshot, j *policy.Job, m Measured, lasts, later time.Duration) {
	a := workload.Arrival{At: later, Spec: *j.Spec, Duration: lasts}
	a.Spec.Schedule = job.BatchSchedule{}
	in.arrivals = append(in.arrivals, a)
	if later > 0 {
		return
	}
	st := &sim.InitialState{Status: shifted(j.Status, sim.Epoch.Sub(s.Now)), Batch: m.Asked}
	st.Status.Progress, st.Status.Epoch = 0, 0 // its duration is counted from here on
	if st.Status.Phase == job.Profiling {
		st.Status.Phase = job.Waiting
	}
	in.options.Initial[j.ID] = st
}

func target(s *policy.Snapshot, j *policy.Job) float64 {
	if j.Target > 0 {
		return j.Target
	}
	if left, from := s.Work(j); from == perf.FromClass {
		return j.Done(s.Now) + left
	}
	return 0
}

func (in *setting) arrive(t *truth, at time.Duration) {
	app := t.application(in.cluster.Types())
	a := workload.Arrival{At: at, Spec: *t.spec, Application: string(t.spec.ID)}
	if app.Curve != nil {
		a.Spec.Schedule = job.BatchSchedule{} // none, or one that cannot be followed
	}
	in.catalog[a.Application], in.truths[t.spec.ID] = app, t
	in.arrivals = append(in.arrivals, a)
}

// come adds new jobs that copy, in turn, the jobs of the snapshot whose ends can be predicted.
func (in *setting) come(c scenario, s *policy.Snapshot, rounds int) {
	var like []*truth
	for _, j := range s.Jobs {
		if t := in.truths[j.ID]; t != nil && in.outcomes[j.ID].why == Known {
			like = append(like, t)
		}
	}
	end := time.Duration(rounds) * s.Length
	for k := 0; len(like) > 0 && k < mostComing && time.Duration(k+1)*c.between < end; k++ {
		t := *like[k%len(like)]
		spec := *t.spec
		spec.ID = job.ID(fmt.Sprintf("coming %d", k+1))
		spec.Reservation = cluster.Configuration{}
		t.spec = &spec
		in.arrive(&t, time.Duration(k+1)*c.between)
	}
}

func initialState(s *policy.Snapshot, j *policy.Job, t *truth, m Measured) *sim.InitialState {
	st := &sim.InitialState{Status: shifted(j.Status, sim.Epoch.Sub(s.Now)), Batch: m.Asked}
	if st.Status.Phase == job.Profiling {
		st.Status.Phase = job.Waiting
	}
	if j.Phase == job.Restoring {
		st.Restore = max(0, t.delay-s.Now.Sub(j.Since))
	}
	st.Status.Progress = j.Done(s.Now)
	if t.target > 0 {
		st.Status.Progress = min(st.Status.Progress, t.target)
	}
	if j.Perf != nil {
		sqr, vari := gradients(j.Perf, j.Spec.Batch.Init)
		st.Reports = []job.Report{{Job: j.ID, GradSqr: sqr, GradVar: vari, Progress: j.Progress, Epoch: j.Epoch}}
	}
	return st
}

func shifted(st job.Status, by time.Duration) job.Status {
	for _, at := range []*time.Time{&st.Submitted, &st.FirstStarted, &st.Finished, &st.Since, &st.Reported} {
		if !at.IsZero() {
			*at = at.Add(by)
		}
	}
	return st
}

func (in *setting) beliefs(o estimate.Options) estimate.Options {
	o = estimate.Options{Mode: estimate.Oracle, Smoothing: o.Smoothing}
	o.Oracle = func(spec *job.Spec) estimate.Throughput {
		if t := in.truths[spec.ID]; t != nil && t.believed != nil {
			return t.believed.Throughput
		}
		return nil
	}
	o.Like = func(spec *job.Spec) perf.Model {
		if t := in.truths[spec.ID]; t != nil {
			return t.believed
		}
		return nil
	}
	o.Sensitivity = func(spec *job.Spec) *perf.Sensitivity {
		if t := in.truths[spec.ID]; t != nil {
			return t.input
		}
		return nil
	}
	return o
}

func (in *setting) scheduler(s *policy.Snapshot, o *Options) scheduler.Options {
	so := o.Scheduler
	so.Round, so.Profile, so.OnSubmit, so.Estimate = s.Length, false, false, in.options.Estimate
	if so.Classes {
		so.Known = func(time.Time) []*perf.ClassStats { return s.Classes }
	}
	return so
}
