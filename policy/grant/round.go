package grant

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Gate checks a grant before job i (an index into s.Jobs) gets allocation a. It may change the CPUs and memory of a,
// and returns false to refuse the grant. A Round ignores the refusal for jobs that must keep or get their GPUs: see
// NewGated.
type Gate func(s *policy.Snapshot, i int, a *cluster.Allocation) bool

// A Round is a plan under construction, in which a policy grants GPUs job by job. In its methods, i is an index into
// Snapshot.Jobs and t an index into Types. A job is undecided until its decision has a reason.
type Round struct {
	Snapshot *policy.Snapshot
	Types    []cluster.TypeInfo // GPU types of the snapshot's cluster

	plan   *policy.Plan
	free   []int // GPUs, by type
	gate   Gate  // nil: none
	yields bool  // the gate may refuse the GPUs that running jobs keep, which preempts them
}

// NewRound returns a Round in which three kinds of jobs are already decided: jobs being profiled get nothing, running
// non-preemptive jobs keep their GPUs, and jobs with a reservation get it.
func NewRound(s *policy.Snapshot) *Round { return NewGated(s, nil, false) }

// NewGated returns a NewRound that calls gate before each grant. A refusal has no effect on reservations and running
// non-preemptive jobs. If yields is false, it also has none on other running jobs that keep their GPUs.
func NewGated(s *policy.Snapshot, gate Gate, yields bool) *Round {
	r := &Round{Snapshot: s, Types: s.Cluster.Types(), gate: gate, yields: yields, plan: &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}}
	r.free = make([]int, len(r.Types))
	for i := range r.Types {
		r.free[i] = r.Types[i].GPUs - s.Continuing.Of(i)
	}
	r.pin()
	return r
}

// Decided reports whether job i has a decision in this round.
func (r *Round) Decided(i int) bool { return r.plan.Jobs[i].Why.Kind != policy.Unexplained }

func (r *Round) pin() {
	reserved := false
	for i, j := range r.Snapshot.Jobs {
		switch {
		case j.Phase == job.Profiling:
			r.plan.Jobs[i].Why.Kind = policy.WaitProfile
		case j.NonPreemptive && j.Holding():
			r.keep(i, policy.PinnedNonPreempt)
		default:
			reserved = reserved || !j.Reservation.IsZero()
		}
	}
	if !reserved {
		return
	}
	for i, j := range r.Snapshot.Jobs {
		if !r.Decided(i) && !j.Reservation.IsZero() {
			r.reserve(i)
		}
	}
}

func (r *Round) reserve(i int) {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	want := j.Reservation
	t := r.Snapshot.Cluster.TypeIndex(want.GPUType)
	switch {
	case t < 0 || want.GPUs > r.Types[t].GPUs:
		d.Why = policy.Reason{Kind: policy.Impossible, Config: want}
	case !r.take(t, want.GPUs):
		d.Why = policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(r.free[t]), Limit: float64(want.GPUs)}
	default:
		d.Allocation = host(j, &r.Types[t], want)
		r.passes(i, &d.Allocation)
		d.Batch = j.AsSubmitted(&d.Allocation)
		d.Why = policy.Reason{Kind: policy.Reserved, Config: want}
	}
}

// Keep makes undecided running jobs keep their GPUs if selected returns true for them.
func (r *Round) Keep(selected func(*policy.Job) bool) {
	for i, j := range r.Snapshot.Jobs {
		if j.Holding() && !r.Decided(i) && selected(j) {
			r.keep(i, policy.AsPlanned)
		}
	}
}

func (r *Round) passes(i int, a *cluster.Allocation) bool {
	return r.gate == nil || r.gate(r.Snapshot, i, a)
}

// keep leaves a job its GPUs if they still exist. Only a non-preemptive job keeps its CPUs and memory: a placer may
// have lent the others more than their share.
func (r *Round) keep(i int, why policy.Kind) {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	t := r.Snapshot.Cluster.TypeIndex(j.Allocation.GPUType)
	if t < 0 || !r.take(t, j.Allocation.GPUs) {
		return
	}
	d.Allocation = j.Allocation
	if !j.NonPreemptive && r.Types[t].Counts() {
		d.Allocation = host(j, &r.Types[t], j.Allocation.Configuration)
	}
	if !r.passes(i, &d.Allocation) && r.yields && !j.NonPreemptive {
		r.free[t] += d.Allocation.GPUs
		d.Allocation = cluster.Allocation{}
		return
	}
	d.Batch = j.AsSubmitted(&d.Allocation)
	d.Why = policy.Reason{Kind: why, Config: j.Allocation.Configuration}
}

// Assign gives job i allocation a of type t; it returns false if the gate refuses. The caller must have checked that
// there is room.
func (r *Round) Assign(i, t int, a cluster.Allocation) bool {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	if !r.passes(i, &a) {
		d.Why = policy.Reason{Kind: policy.WaitHost, Config: a.Configuration, Value: a.CPUs, Limit: float64(a.Memory)}
		return false
	}
	d.Allocation = a
	r.take(t, a.GPUs)
	d.Batch = j.AsSubmitted(&d.Allocation)
	d.Why = started(j, &a, 0, 0)
	if d.Why.Kind == policy.Moved && j.Allocation.GPUType != a.GPUType { // a gang of one size is faster only on another type
		d.Why.Value, d.Why.Limit = r.speeds(j, &a)
	}
	return true
}

// Lacks makes undecided job i wait, with the reason that too few GPUs are free. widest is the usable type with the most
// free GPUs, or -1 if the job can never run, and least is the job's minimum on that type.
func (r *Round) Lacks(i, widest, least int) {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	if widest < 0 {
		d.Why = policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: Requested(j)}}
		return
	}
	want := amount(j, &r.Types[widest], least).Configuration
	d.Why = policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(r.free[widest]), Limit: float64(want.GPUs)}
}

func started(j *policy.Job, a *cluster.Allocation, speed, held float64) policy.Reason {
	before, now := j.Allocation.Configuration, a.Configuration
	why := policy.Reason{Config: before, Value: speed, Limit: held}
	switch {
	case !j.Holding():
		why = policy.Reason{Kind: policy.Started, Config: now, Value: speed}
	case before == now:
		why = policy.Reason{Kind: policy.AsPlanned, Config: now, Value: speed}
	case before.GPUType != now.GPUType, before.GPUs == now.GPUs:
		why.Kind = policy.Moved
	case before.GPUs > now.GPUs:
		why = policy.Reason{Kind: policy.Shrunk, Config: before}
	default:
		why.Kind = policy.Grown
	}
	return why
}

// speeds returns the speed of a job with an allocation and with its present GPUs, relative to its minimum on
// its slowest type; 0 is unknown.
func (r *Round) speeds(j *policy.Job, a *cluster.Allocation) (now, held float64) {
	if j.Perf == nil {
		return 0, 0
	}
	slowest := math.Inf(1)
	for t := range r.Types {
		if n, _, _ := amounts(j, &r.Types[t]); n > 0 {
			slowest = min(slowest, Goodput(j, amount(j, &r.Types[t], n)))
		}
	}
	of := func(a *cluster.Allocation) float64 {
		if a.IsZero() || slowest == 0 {
			return 0
		}
		return Goodput(j, *a) / slowest
	}
	return of(a), of(&j.Allocation)
}

func (r *Round) take(t, n int) bool {
	if r.free[t] < n {
		return false
	}
	r.free[t] -= n
	return true
}

// KeepRunning lets all undecided running jobs keep their GPUs.
func (r *Round) KeepRunning() {
	r.Keep(func(*policy.Job) bool { return true })
}

// KeepUnsaved lets running jobs without checkpoints keep their GPUs. It is for policies in which jobs take turns: these
// could preempt such a job again and again, so that it never ends.
func (r *Round) KeepUnsaved() {
	r.Keep(func(j *policy.Job) bool { return j.NoCheckpoint })
}

// Stay keeps jobs with unchanged GPUs on their nodes. It is for a policy that chooses nodes itself. closed[t] is true
// if the placer still has to find nodes of type t for another grant; then the policy must start no job on this type.
func (r *Round) Stay() (closed []bool) {
	closed = make([]bool, len(r.Types))
	for i, j := range r.Snapshot.Jobs {
		d := &r.plan.Jobs[i]
		switch {
		case d.Allocation.IsZero():
		case j.Holding() && d.Allocation.SameGPUs(&j.Allocation) && j.Placement != nil:
			d.Allocation, d.Placement = j.Allocation, j.Placement
		default:
			for t := range r.Types {
				closed[t] = closed[t] || d.Allocation.Has(r.Types[t].Type)
			}
		}
	}
	return closed
}

// Free returns the free GPUs of type t.
func (r *Round) Free(t int) int { return r.free[t] }

// FreeByType returns a copy of the free GPUs of every type, in the order of Types.
func (r *Round) FreeByType() []int { return slices.Clone(r.free) }

// Gang returns the allocation that job i requests on type t, and whether an empty cluster would have room
// for it.
func (r *Round) Gang(i, t int) (cluster.Allocation, bool) {
	j, info := r.Snapshot.Jobs[i], &r.Types[t]
	if !Usable(j, info) {
		return cluster.Allocation{}, false
	}
	return Gang(j, info), true
}

// Range returns the minimum and maximum number of GPUs of type t that job i could get in an empty cluster. Numbers
// between them are possible in multiples of step above least, so that replicas and workers stay whole. All are 0 if the
// type is unusable. For a rigid job least equals most.
func (r *Round) Range(i, t int) (least, most, step int) {
	return amounts(r.Snapshot.Jobs[i], &r.Types[t])
}

// Amount returns an allocation of n GPUs of type t for job i, on the fewest nodes.
func (r *Round) Amount(i, t, n int) cluster.Allocation {
	return amount(r.Snapshot.Jobs[i], &r.Types[t], n)
}

// Grant gives undecided job i its requested GPUs of type t, and reports whether there was room.
func (r *Round) Grant(i, t int) bool {
	j, info := r.Snapshot.Jobs[i], &r.Types[t]
	if !Usable(j, info) || r.free[t] < Size(j, info.Type) {
		return false
	}
	return r.Assign(i, t, Gang(j, info))
}

// Give gives undecided job i n GPUs of type t. It returns false, and grants nothing, if Range does not
// allow n or there is no room.
func (r *Round) Give(i, t, n int) bool {
	least, most, step := r.Range(i, t)
	if n < max(1, least) || n > most || (n-least)%step != 0 || r.free[t] < n {
		return false
	}
	a := r.Amount(i, t, n)
	if !r.Assign(i, t, a) {
		return false
	}
	j := r.Snapshot.Jobs[i]
	now, held := r.speeds(j, &a)
	r.plan.Jobs[i].Why = started(j, &a, now, held)
	return true
}

// Set gives undecided job i allocation a without changing the free GPUs, for a caller that tracks these
// itself.
func (r *Round) Set(i int, a cluster.Allocation) {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	d.Allocation, d.Batch = a, j.AsSubmitted(&a)
	now, held := r.speeds(j, &a)
	d.Why = started(j, &a, now, held)
}

// Refuse makes undecided job i wait for GPUs. Its reason is policy.Impossible if even an empty cluster has
// no room for it.
func (r *Round) Refuse(i int) {
	widest, least := -1, 0
	for t := range r.Types {
		if n, _, _ := r.Range(i, t); n > 0 && (widest < 0 || r.free[t] > r.free[widest]) {
			widest, least = t, n
		}
	}
	r.Lacks(i, widest, least)
}

// Plan returns the finished plan. Every job must be decided before the call.
func (r *Round) Plan() *policy.Plan { return r.plan }
