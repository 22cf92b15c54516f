package grant

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Gate is shown every grant of GPUs before it is made, in the order in which they are: job i
// of the snapshot is to get a. It may change a's CPUs and memory. Its caller decides what false
// means.
type Gate func(s *policy.Snapshot, i int, a *cluster.Allocation) bool

// A Round is a plan in the making: who has what so far, and what is still free. Jobs and types
// go by their places in Snapshot.Jobs and Types. A job without a reason has no decision yet.
type Round struct {
	Snapshot *policy.Snapshot
	Types    []cluster.TypeInfo // of the snapshot's cluster

	plan   *policy.Plan
	free   []int // GPUs, by type
	gate   Gate  // nil: all pass
	yields bool  // running jobs may be preempted, so the gate may refuse what they keep
}

// NewRound returns a round in which jobs without a choice are decided: profiled ones get nothing,
// non-preemptive ones keep what they hold, and reservations are granted.
func NewRound(s *policy.Snapshot) *Round { return NewGated(s, nil, false) }

// NewGated returns the same with a gate. The gate cannot refuse these jobs, nor, unless running
// jobs yield, what running jobs keep.
func NewGated(s *policy.Snapshot, gate Gate, yields bool) *Round {
	r := &Round{Snapshot: s, Types: s.Cluster.Types(), gate: gate, yields: yields, plan: &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}}
	r.free = make([]int, len(r.Types))
	for i := range r.Types {
		r.free[i] = r.Types[i].GPUs - s.Continuing.Of(i)
	}
	r.pin()
	return r
}

// Decided reports whether there is a decision about job i.
func (r *Round) Decided(i int) bool { return r.plan.Jobs[i].Why.Kind != policy.Unexplained }

// pin decides for the jobs that leave no choice: those being profiled get
// nothing, non-preemptive ones keep what they hold, and reservations are
// granted, in that order.
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

// reserve grants job i its reservation, or says what is missing.
func (r *Round) reserve(i int) {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	want := j.Reservation
	t := r.typeIndex(want.GPUType)
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

// Keep lets those running jobs keep what they hold of which may is true.
func (r *Round) Keep(may func(*policy.Job) bool) {
	for i, j := range r.Snapshot.Jobs {
		if j.Holding() && !r.Decided(i) && may(j) {
			r.keep(i, policy.AsPlanned)
		}
	}
}

// passes shows a grant to the gate.
func (r *Round) passes(i int, a *cluster.Allocation) bool {
	return r.gate == nil || r.gate(r.Snapshot, i, a)
}

// keep lets a job keep what it holds, if that is still there. CPUs and memory
// that are counted it keeps only if it is non-preemptive: a placer may have lent
// it those of others.
func (r *Round) keep(i int, why policy.Kind) {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	t := r.typeIndex(j.Allocation.GPUType)
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

// Assign gives job i an allocation of a type with room, if the gate lets it pass.
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
	if d.Why.Kind == policy.Moved && j.Allocation.GPUType != a.GPUType { // a gang has one number of GPUs, so that nothing else makes it faster
		d.Why.Value, d.Why.Limit = r.speeds(j, &a)
	}
	return true
}

// Lacks says that job i, about which nothing is decided, waits because too few GPUs are free.
// widest is the type with most free GPUs among those that could ever carry it, or -1 if there is
// none, and least the fewest GPUs that it needs there.
func (r *Round) Lacks(i, widest, least int) {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	if widest < 0 {
		d.Why = policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: Requested(j)}}
		return
	}
	want := amount(j, &r.Types[widest], least).Configuration
	d.Why = policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(r.free[widest]), Limit: float64(want.GPUs)}
}

// started is the reason for a grant with which j has the speed now, where it has the speed held with what it holds.
// A speed of 0 is not known.
func started(j *policy.Job, a *cluster.Allocation, speed, held float64) policy.Reason {
	before, now := j.Allocation.Configuration, a.Configuration
	why := policy.Reason{Config: before, Value: speed, Limit: held}
	switch {
	case !j.Holding():
		why = policy.Reason{Kind: policy.Started, Config: now, Value: speed}
	case before == now:
		why = policy.Reason{Kind: policy.AsPlanned, Config: now, Value: speed}
	case before.GPUType != now.GPUType, before.GPUs == now.GPUs: // or as many on other nodes
		why.Kind = policy.Moved
	case before.GPUs > now.GPUs:
		why = policy.Reason{Kind: policy.Shrunk, Config: before}
	default:
		why.Kind = policy.Grown
	}
	return why
}

// speeds returns how fast a job is with an allocation and with what it holds, as multiples of how fast it is on the least that
// it runs on: the fewest GPUs, of the type on which it is slowest with these. 0: that is not known.
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

func (r *Round) typeIndex(t cluster.GPUType) int {
	for i := range r.Types {
		if r.Types[i].Type == t {
			return i
		}
	}
	return -1
}

// take takes n GPUs of a type if there are as many.
func (r *Round) take(t, n int) bool {
	if r.free[t] < n {
		return false
	}
	r.free[t] -= n
	return true
}

// KeepRunning lets running jobs, about which nothing is decided, keep what they hold.
func (r *Round) KeepRunning() {
	r.Keep(func(*policy.Job) bool { return true })
}

// KeepUnsaved lets those of them keep what they hold that have no checkpoints. It is for
// policies that do not weigh what a preempted job loses: such a job would begin anew after
// each turn or auction, and might never end.
func (r *Round) KeepUnsaved() {
	r.Keep(func(j *policy.Job) bool { return j.NoCheckpoint })
}

// Stay names the nodes of jobs that keep what they hold, for a policy that finds nodes itself. It returns of which types it starts no
// job in this round: those of which the placer has to find nodes for what is new, as a reservation of Oxgang's own, or whose nodes are not known.
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

// Free returns the GPUs of type t that no job has got yet.
func (r *Round) Free(t int) int { return r.free[t] }

// FreeByType returns the same of every type. The caller may modify it.
func (r *Round) FreeByType() []int { return slices.Clone(r.free) }

// Gang returns what job i asks for on type t, and whether an empty cluster could
// carry it.
func (r *Round) Gang(i, t int) (cluster.Allocation, bool) {
	j, info := r.Snapshot.Jobs[i], &r.Types[t]
	if !Usable(j, info) {
		return cluster.Allocation{}, false
	}
	return Gang(j, info), true
}

// Range returns the fewest and most GPUs of type t that job i may have in an empty
// cluster, and the step from one amount to the next: whole replicas, and whole workers,
// of an elastic job.
// A gang has its own size as fewest and most. All are 0 if there is no such amount.
func (r *Round) Range(i, t int) (least, most, step int) {
	return amounts(r.Snapshot.Jobs[i], &r.Types[t])
}

// Amount returns n GPUs of type t for job i, on as few nodes as can carry them.
func (r *Round) Amount(i, t, n int) cluster.Allocation {
	return amount(r.Snapshot.Jobs[i], &r.Types[t], n)
}

// Grant gives job i, about which nothing is decided, its gang on type t, and
// reports whether there is room.
func (r *Round) Grant(i, t int) bool {
	j, info := r.Snapshot.Jobs[i], &r.Types[t]
	if !Usable(j, info) || r.free[t] < Size(j, info.Type) {
		return false
	}
	return r.Assign(i, t, Gang(j, info))
}

// Give gives job i, about which nothing is decided, n GPUs of type t, one of the
// amounts of Range, and reports whether it is one and there is room.
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

// Set gives job i, about which nothing is decided, an allocation that it may have, for a
// caller that counts itself what is free.
func (r *Round) Set(i int, a cluster.Allocation) {
	j, d := r.Snapshot.Jobs[i], &r.plan.Jobs[i]
	d.Allocation, d.Batch = a, j.AsSubmitted(&a)
	now, held := r.speeds(j, &a)
	d.Why = started(j, &a, now, held)
}

// Refuse says that job i, about which nothing is decided, waits because too few GPUs
// are free, or that no cluster like this could carry it.
func (r *Round) Refuse(i int) {
	widest, least := -1, 0
	for t := range r.Types {
		if n, _, _ := r.Range(i, t); n > 0 && (widest < 0 || r.free[t] > r.free[widest]) {
			widest, least = t, n
		}
	}
	r.Lacks(i, widest, least)
}

// Plan returns the plan as it is, for the caller to say why the others wait.
func (r *Round) Plan() *policy.Plan { return r.plan }
