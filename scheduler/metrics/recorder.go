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
	// Isolated returns the completion time of a job alone on gpus GPUs of a type, not positive if it cannot run.
	// Without Isolated and Fair there is no finish-time fairness.
	Isolated func(spec *job.Spec, t cluster.GPUType, gpus float64) time.Duration
	// Fair replaces Isolated: the fair completion time of a job regardless of the run, not positive if unknown.
	Fair func(spec *job.Spec) time.Duration
	// UnfairAbove is the rho above which a job is unfairly scheduled. Default 1.
	UnfairAbove float64
	// Measured selects the jobs in the Result; nil for all. Rounds, contention, utilisation and Series have all
	// jobs.
	Measured func(spec *job.Spec) bool
	// MaxPoints bounds the points of a Series; at least 2. Default 2000.
	MaxPoints int
	// MaxIntervals bounds the intervals of all jobs; later ones are dropped. Default 200,000 (5 MB).
	MaxIntervals int
	// MaxNodes bounds the lives of rented nodes. Default 100,000.
	MaxNodes int
	Stream   Stream
}

// DefaultOptions returns the defaults that the fields state.
func DefaultOptions() Options {
	return Options{UnfairAbove: 1, MaxPoints: 2000, MaxIntervals: 200_000, MaxNodes: 100_000}
}

// Validate returns all errors in o, joined.
func (o *Options) Validate() error {
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

// A Recorder measures a run as a scheduler.Observer: waiting and completion times, restarts, utilisation. An event
// costs O(GPU types), a round O(actions). Not safe for concurrent use.
type Recorder struct {
	opts        Options
	start, now  time.Time // of events or rounds, without efficiency reports
	lastReport  time.Time // of efficiency reports
	submission  time.Time // of the first job
	boundary    time.Time // end of the current round
	quiet       bool      // the round ended without active jobs
	types       []cluster.GPUType
	cluster     *cluster.Cluster
	capacity    []int     // available GPUs, by type
	maxCapacity []int     // its maximum so far
	loaned      []int     // part of capacity
	busy        []int     // held GPUs, by type
	watts       []float64 // mean by type
	price       []float64 // mean per hour, by type

	active  map[job.ID]*account
	ending  []*account // they hold GPUs until their round ends
	done    resultStore
	running int // active accounts with GPUs

	jobSeconds      float64   // integral of active jobs
	heldSeconds     []float64 // integral of busy
	capacitySeconds []float64 // up to the last end
	pauseSeconds    []float64 // since then

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
	if err := opts.Validate(); err != nil {
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

// AddPolicyTime records how long the policy planned in one round.
func (r *Recorder) AddPolicyTime(d time.Duration) { r.policyTimes.add(d) }

// PolicyTimes returns how long the policy planned, by round, or by every 2nd, 4th, … of more than 65,536 rounds. The
// times depend on the machine and are not in a Result.
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
	if s.Cluster != r.cluster {
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

// advance moves the clock to now. It also closes a round that ended without active jobs.
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
	there, paid := r.capacitySeconds, &r.rent.paid
	if len(r.active) == 0 && len(r.ending) == 0 {
		there, paid = r.pauseSeconds, &r.rent.paused
	}
	more := r.rent.over(d)
	paid.add(&more)
	r.integrateLoans(d)
	for i := range r.types {
		r.heldSeconds[i] += d * float64(r.busy[i])
		there[i] += d * float64(r.capacity[i])
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
	for i := range r.types {
		r.row = append(r.row, float64(r.busy[i]), float64(r.capacity[i]), float64(r.rent.comingOf(i)))
	}
	r.series.add(r.now.Sub(r.start).Seconds(), r.row)
	r.streamRound()
}

func (r *Recorder) typeIndex(t cluster.GPUType) int {
	if i := slices.Index(r.types, t); i >= 0 {
		return i
	}
	r.types = append(r.types, t)
	r.capacity, r.loaned, r.busy = append(r.capacity, 0), append(r.loaned, 0), append(r.busy, 0)
	r.watts, r.price = append(r.watts, 0), append(r.price, 0)
	r.heldSeconds, r.capacitySeconds = append(r.heldSeconds, 0), append(r.capacitySeconds, 0)
	r.pauseSeconds, r.maxCapacity = append(r.pauseSeconds, 0), append(r.maxCapacity, 0)
	return len(r.types) - 1
}

// setCluster assumes that the first nodes exist since the first submission.
func (r *Recorder) setCluster(c *cluster.Cluster) {
	first := r.cluster == nil
	r.setLent(c)
	r.cluster = c
	r.setLives(c)
	clear(r.capacity)
	clear(r.loaned)
	clear(r.watts)
	clear(r.price)
	r.rent.owned = 0
	for _, n := range c.Nodes() {
		i := r.typeIndex(n.GPUType)
		gpus := float64(n.Capacity.GPUs)
		r.capacity[i] += n.Capacity.GPUs
		r.watts[i] += gpus * n.Power
		r.price[i] += gpus * float64(n.Price)
		if n.Tenure == cluster.Loaned {
			r.loaned[i] += n.Capacity.GPUs
		}
		if n.Tenure != cluster.Rented {
			r.rent.owned += gpus * n.GPUPrice()
		}
	}
	for i, gpus := range r.capacity {
		r.maxCapacity[i] = max(r.maxCapacity[i], gpus)
		if gpus > 0 {
			r.watts[i] /= float64(gpus)
			r.price[i] /= float64(gpus)
		}
		if first && !r.submission.IsZero() {
			r.capacitySeconds[i] = r.now.Sub(r.submission).Seconds() * float64(gpus)
		}
	}
	if first && !r.submission.IsZero() {
		r.rent.paid.owned = r.now.Sub(r.submission).Seconds() * r.rent.owned
	}
}

func (r *Recorder) rho(a *account) float64 {
	jct := a.finished.Sub(a.submitted)
	switch {
	case r.opts.Fair != nil:
		rho, _ := perf.Rho(jct, []perf.Isolated{{GPUs: 1, JCT: r.opts.Fair(a.spec)}})
		return rho
	case r.opts.Isolated == nil || r.cluster == nil:
		return 0
	}
	isolated := make([]perf.Isolated, 0, len(r.types))
	for _, t := range r.cluster.Types() {
		if !a.spec.Eligible(t.Type) {
			continue
		}
		alone := r.opts.Isolated(a.spec, t.Type, perf.FairShare(t.GPUs, a.contention))
		isolated = append(isolated, perf.Isolated{GPUs: t.GPUs, JCT: alone})
	}
	rho, _ := perf.Rho(jct, isolated)
	return rho
}
