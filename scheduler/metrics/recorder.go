package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// Options configure what a Recorder measures.
type Options struct {
	// Isolated returns the completion time of a job alone on gpus GPUs of type t; 0 or less if it cannot run
	// there. Without Isolated and Fair, finish-time fairness is not measured.
	Isolated func(spec *job.Spec, t cluster.GPUType, gpus float64) time.Duration
	// Fair, if set, replaces Isolated. It returns the fair completion time of a job regardless of the run; 0 or
	// less if unknown.
	Fair func(spec *job.Spec) time.Duration
	// UnfairAbove is the finish-time fairness above which a job counts as treated unfairly. Default 1.
	UnfairAbove float64
	// Measured selects the jobs of the Result; nil selects all. Rounds, contention, utilisation and Series always
	// include all jobs.
	Measured func(spec *job.Spec) bool
	// MaxPoints limits the points of a Series; at least 2. Default 2000.
	MaxPoints int
	// MaxIntervals limits the number of intervals of all jobs together; later ones are dropped. Default 200,000 (5
	// MB).
	MaxIntervals int
	// MaxNodes limits the length of Result.Nodes. Default 100,000.
	MaxNodes int
	Stream   Stream
}

// DefaultOptions returns the defaults that the fields state.
func DefaultOptions() Options {
	return Options{UnfairAbove: 1, MaxPoints: 2000, MaxIntervals: 200_000, MaxNodes: 100_000}
}

func (o *Options) validate() error {
	var errs []error
	if !(o.UnfairAbove > 0 && o.UnfairAbove <= math.MaxFloat64) {
		errs = append(errs, fmt.Errorf("metrics: UnfairAbove is %v, want more than 0", o.UnfairAbove))
	}
	if o.MaxPoints < 2 {
		errs = append(errs, fmt.Errorf("metrics: MaxPoints is %d, want at least 2", o.MaxPoints))
	}
	if o.MaxIntervals < 0 {
		errs = append(errs, fmt.Errorf("metrics: MaxIntervals is %d, want at least 0", o.MaxIntervals))
	}
	if o.MaxNodes < 0 {
		errs = append(errs, fmt.Errorf("metrics: MaxNodes is %d, want at least 0", o.MaxNodes))
	}
	return errors.Join(errs...)
}

// A Recorder is a scheduler.Observer that measures a run: waiting and completion times, restarts, utilisation. An
// event costs O(GPU types), a round O(its actions). It is not safe for concurrent use.
type Recorder struct {
	opts       Options
	start, now time.Time // of events or rounds, without efficiency reports
	lastReport time.Time // of efficiency reports
	submission time.Time // of the first job
	boundary   time.Time
	quiet      bool // the last round has ended, without active jobs
	gpus       supply

	active  map[job.ID]*account
	ending  []*account // ended jobs that hold GPUs until their round ends
	done    resultStore
	running int

	jobSeconds float64

	rent    tenancy
	lending lending

	rounds, contention, maxContention int
	series                            recording
	row                               []float64 // of series; reused
	intervals, dropped                int
	policyTimes                       sample
}

var _ scheduler.Observer = (*Recorder)(nil)

// New returns a Recorder without measurements, or the error of Options.Validate.
func New(opts Options) (*Recorder, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Recorder{
		opts:    opts,
		active:  make(map[job.ID]*account),
		series:  recording{limit: opts.MaxPoints, stride: 1},
		rent:    tenancy{open: make(map[cluster.NodeID]int)},
		lending: lending{returned: make(map[cluster.NodeID]bool)},
		quiet:   true,
	}, nil
}

// AddPolicyTime records that the policy took d to plan one round.
func (r *Recorder) AddPolicyTime(d time.Duration) { r.policyTimes.add(d) }

// PolicyTimes returns how long the policy took in each round, or in every 2nd, 4th, … round if there are more than
// 65,536 rounds. The times depend on the machine and are not part of a Result.
func (r *Recorder) PolicyTimes() []time.Duration { return slices.Clone(r.policyTimes.times) }

// Event implements scheduler.Observer. Events of unknown jobs are ignored.
func (r *Recorder) Event(now time.Time, ev scheduler.Event) {
	if rep, ok := ev.(scheduler.Reported); ok && r.unchanged(now, &rep.Report) {
		return
	}
	r.advance(now)
	switch ev := ev.(type) {
	case scheduler.Submitted:
		r.submitted(ev.Spec)
	case scheduler.Described:
		if a := r.active[ev.Spec.ID]; a != nil {
			a.spec = ev.Spec
		}
	case scheduler.Restored:
		r.restored(&ev)
	case scheduler.Reported:
		if a := r.active[ev.Job]; a != nil {
			r.reported(a, &ev.Report)
		}
	case scheduler.Exited:
		if a := r.active[ev.Job]; a != nil {
			r.exited(a, ev.Outcome)
		}
	case scheduler.NodesChanged:
		r.setCluster(ev.Cluster)
		r.setRentals(ev.Rentals)
		r.setLoans(ev.Loans)
	case scheduler.Profiled:
	}
}

func (r *Recorder) restored(ev *scheduler.Restored) {
	if ev.Status.Phase.Terminal() {
		return
	}
	r.submitted(ev.Spec)
	if ev.Status.Holding() {
		r.run(r.active[ev.Spec.ID], &scheduler.Run{Job: ev.Spec.ID, Allocation: ev.Status.Allocation, Placement: ev.Status.Placement})
	}
}

// Round implements scheduler.Observer.
func (r *Recorder) Round(s *policy.Snapshot, p *policy.Plan, actions []scheduler.Action) {
	r.advance(s.Now)
	r.boundary = s.Now.Add(s.Length)
	r.quiet = false
	if s.Cluster != r.gpus.cluster {
		r.setCluster(s.Cluster)
	}
	r.setRentals(s.Rentals)
	r.setLoans(s.Loans)
	r.setWorth(s, p)
	r.endRound()
	r.reclaim(actions)
	for _, act := range actions {
		switch act := act.(type) {
		case scheduler.Preempt:
			if a := r.active[act.Job]; a != nil {
				r.release(a)
			}
		case scheduler.Run:
			if a := r.active[act.Job]; a != nil {
				r.run(a, &act)
			}
		case scheduler.Profile:
		}
	}
	if len(s.Jobs) > 0 || len(s.Rentals)+len(s.Loans) == 0 { // rounds without jobs are planned only if nodes can be rented or lent
		r.rounds++
	}
	r.contention += len(s.Jobs)
	r.maxContention = max(r.maxContention, len(s.Jobs))
	r.record()
}

func (r *Recorder) advance(now time.Time) {
	if r.start.IsZero() {
		r.start, r.now = now, now
	}
	if now.After(r.boundary) && len(r.active) == 0 && !r.quiet {
		r.integrate(r.boundary)
		r.endRound()
		r.lending.worth = worth{}
		r.record()
		r.quiet = true
	}
	r.integrate(now)
}

func (r *Recorder) integrate(now time.Time) {
	d := now.Sub(r.now).Seconds()
	if d <= 0 {
		return
	}
	r.now = now
	r.jobSeconds += d * float64(len(r.active))
	there, paid := r.gpus.capacitySeconds, &r.rent.paid
	if len(r.active) == 0 && len(r.ending) == 0 {
		there, paid = r.gpus.pauseSeconds, &r.rent.paused
	}
	more := r.rent.over(d)
	paid.add(&more)
	r.integrateLoans(d)
	for i := range r.gpus.types {
		r.gpus.heldSeconds[i] += d * float64(r.gpus.busy[i])
		there[i] += d * float64(r.gpus.capacity[i])
	}
}

func (r *Recorder) endRound() {
	for _, a := range r.ending {
		r.settle(a)
		r.free(a)
		r.store(a)
	}
	r.ending = r.ending[:0]
}

func (r *Recorder) record() {
	now := r.usage()
	r.row = append(r.row[:0], float64(r.running), float64(len(r.active)-r.running), r.rent.rate,
		now.lent, now.busy, now.wanted, now.load, now.pool, r.lending.worth.training, r.lending.worth.loan)
	for i := range r.gpus.types {
		r.row = append(r.row, float64(r.gpus.busy[i]), float64(r.gpus.capacity[i]), float64(r.rent.comingOf(i)))
	}
	r.series.add(r.now.Sub(r.start).Seconds(), r.row)
	r.streamRound()
}

// setCluster assumes that the first nodes exist since the first submission.
func (r *Recorder) setCluster(c *cluster.Cluster) {
	first := r.gpus.cluster == nil && !r.submission.IsZero()
	r.lending.setLent(r.gpus.cluster, c, r.now)
	r.rent.setLives(c, r.now.Sub(r.start).Seconds(), r.opts.MaxNodes)
	r.gpus.set(c)
	r.rent.owned = 0
	for _, n := range c.Nodes() {
		if n.Tenure != cluster.Rented {
			r.rent.owned += float64(n.Capacity.GPUs) * n.GPUPrice()
		}
	}
	if !first {
		return
	}
	since := r.now.Sub(r.submission).Seconds()
	r.rent.paid.owned = since * r.rent.owned
	for i, gpus := range r.gpus.capacity {
		r.gpus.capacitySeconds[i] = since * float64(gpus)
	}
}

func (o *Options) rho(a *account, c *cluster.Cluster) float64 {
	jct := a.finished.Sub(a.submitted)
	switch {
	case o.Fair != nil:
		rho, _ := perf.Rho(jct, []perf.Isolated{{GPUs: 1, JCT: o.Fair(a.spec)}})
		return rho
	case o.Isolated == nil || c == nil:
		return 0
	}
	isolated := make([]perf.Isolated, 0, len(c.Types()))
	for _, t := range c.Types() {
		if !a.spec.Eligible(t.Type) {
			continue
		}
		alone := o.Isolated(a.spec, t.Type, perf.FairShare(t.GPUs, a.contention))
		isolated = append(isolated, perf.Isolated{GPUs: t.GPUs, JCT: alone})
	}
	rho, _ := perf.Rho(jct, isolated)
	return rho
}
