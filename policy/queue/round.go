package queue

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf/remaining"
	"github.com/oxgang/oxgang/policy"
)

// A round is a plan in the making. A job without a reason has no decision yet.
type round struct {
	s       *policy.Snapshot
	plan    *policy.Plan
	types   []cluster.TypeInfo
	free    []int        // GPUs, by type
	largest int          // GPUs of the type that has most
	yields  bool         // who runs may be preempted, so that the gate may say no to it
	moves   bool         // who runs may go to a faster type, where that pays for the restart
	head    *reservation // of the first job that does not fit; nil: none
	gate    func(s *policy.Snapshot, i int, a *cluster.Allocation) bool
}

func newRound(s *policy.Snapshot, gate func(*policy.Snapshot, int, *cluster.Allocation) bool) *round {
	r := &round{s: s, gate: gate, types: s.Cluster.Types(), plan: &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}}
	r.free = make([]int, len(r.types))
	for i := range r.types {
		r.free[i] = r.types[i].GPUs
		r.largest = max(r.largest, r.free[i])
	}
	return r
}

func (r *round) decided(i int) bool { return r.plan.Jobs[i].Why.Kind != policy.Unexplained }

// pin decides for the jobs that leave no choice: those being profiled get
// nothing, non-preemptive ones keep what they hold, and reservations are
// granted, in that order.
func (r *round) pin() {
	reserved := false
	for i, j := range r.s.Jobs {
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
	for i, j := range r.s.Jobs {
		if !r.decided(i) && !j.Reservation.IsZero() {
			r.reserve(i)
		}
	}
}

// reserve grants job i its reservation, or says what is missing.
func (r *round) reserve(i int) {
	j, d := r.s.Jobs[i], &r.plan.Jobs[i]
	want := j.Reservation
	t := r.typeIndex(want.GPUType)
	switch {
	case t < 0 || want.GPUs > r.types[t].GPUs:
		d.Why = policy.Reason{Kind: policy.Impossible, Config: want}
	case !r.take(t, want.GPUs):
		d.Why = policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(r.free[t]), Limit: float64(want.GPUs)}
	default:
		d.Allocation = host(j, &r.types[t], want)
		r.passes(i, &d.Allocation)
		d.Batch = j.AsSubmitted(&d.Allocation)
		d.Why = policy.Reason{Kind: policy.Reserved, Config: want}
	}
}

// keepWhere lets those running jobs keep what they hold of which may is true.
func (r *round) keepWhere(may func(*policy.Job) bool) {
	for i, j := range r.s.Jobs {
		if j.Holding() && !r.decided(i) && may(j) {
			r.keep(i, policy.AsPlanned)
		}
	}
}

// passes shows a grant to the gate.
func (r *round) passes(i int, a *cluster.Allocation) bool {
	return r.gate == nil || r.gate(r.s, i, a)
}

// keep lets a job keep what it holds, if that is still there. CPUs and memory
// that are counted it keeps only if it is non-preemptive: a placer may have lent
// it those of others.
func (r *round) keep(i int, why policy.Kind) {
	j, d := r.s.Jobs[i], &r.plan.Jobs[i]
	t := r.typeIndex(j.Allocation.GPUType)
	if t < 0 || !r.take(t, j.Allocation.GPUs) {
		return
	}
	d.Allocation = j.Allocation
	if !j.NonPreemptive && r.types[t].Counts() {
		d.Allocation = host(j, &r.types[t], j.Allocation.Configuration)
	}
	if !r.passes(i, &d.Allocation) && r.yields && !j.NonPreemptive {
		r.free[t] += d.Allocation.GPUs
		d.Allocation = cluster.Allocation{}
		return
	}
	d.Batch = j.AsSubmitted(&d.Allocation)
	d.Why = policy.Reason{Kind: why, Config: j.Allocation.Configuration, Value: float64(j.Allocation.GPUs)}
}

// grant gives job i its gang on the best GPU type with room and reports whether
// there is one, and the gate lets it pass; if not, its decision says why.
func (r *round) grant(i int) bool {
	j, d := r.s.Jobs[i], &r.plan.Jobs[i]
	best, widest, bestSpeed, held := -1, -1, 0.0, false
	for t := range r.types {
		if !usable(j, &r.types[t]) {
			continue
		}
		if widest < 0 || r.free[t] > r.free[widest] {
			widest = t
		}
		if r.free[t] < size(j, r.types[t].Type) {
			continue
		}
		if !r.lets(i, t, size(j, r.types[t].Type)) {
			held = true
			continue
		}
		v := speed(j, gang(j, &r.types[t]))
		if j.Holding() && j.Allocation.GPUType == r.types[t].Type {
			if !r.moves {
				best = t // a move would cost a restart
				break
			}
			v *= r.restartGain(j, v)
		}
		if best < 0 || v > bestSpeed || v == bestSpeed && r.free[t] > r.free[best] {
			best, bestSpeed = t, v
		}
	}
	switch {
	case best < 0 && held:
		r.holdBack(i)
		return false
	case best < 0:
		least := 0
		if widest >= 0 {
			least = size(j, r.types[widest].Type)
		}
		r.refuse(j, d, widest, least)
		return false
	}
	return r.give(i, best, gang(j, &r.types[best]))
}

// restartGain returns the factor by which another type must be faster than the one that job j
// holds, on which it makes v a second, for a move to pay: j ends there sooner by its restart
// and that of the job that has to make room. Infinite where its work left is not known.
func (r *round) restartGain(j *policy.Job, v float64) float64 {
	b := r.s.Basis(j)
	left, from := b.Time(v)
	if after := left - 2*j.RestartOverhead; from == remaining.Stated && after > 0 {
		return float64(left) / float64(after)
	}
	return math.Inf(1)
}

// give gives job i an allocation of a type with room, if the gate lets it pass.
func (r *round) give(i, t int, a cluster.Allocation) bool {
	j, d := r.s.Jobs[i], &r.plan.Jobs[i]
	if !r.passes(i, &a) {
		d.Why = policy.Reason{Kind: policy.WaitHost, Config: a.Configuration, Value: a.CPUs, Limit: float64(a.Memory)}
		return false
	}
	d.Allocation = a
	r.take(t, a.GPUs)
	d.Batch = j.AsSubmitted(&d.Allocation)
	d.Why = started(j, &a, r.gangWorth(j, &a), float64(j.Allocation.GPUs))
	return true
}

// gangWorth returns the normalised goodput of a gang with an allocation. A gang has one
// configuration, so it is its least number of GPUs, all it asks for (Sia §3.3.4), times
// how many times as fast it is as where it runs now.
func (r *round) gangWorth(j *policy.Job, a *cluster.Allocation) float64 {
	if !j.Holding() || j.Allocation.GPUType == a.GPUType {
		return float64(a.GPUs)
	}
	held, now := speed(j, j.Allocation), speed(j, *a)
	if v := float64(j.Allocation.GPUs) * now / held; held > 0 && now > 0 && !math.IsInf(v, 0) {
		return v
	}
	return float64(a.GPUs)
}

// refuse says why j gets nothing. widest is the type with most free GPUs among
// those that could ever carry it, or -1, and least the fewest GPUs that it needs there.
func (r *round) refuse(j *policy.Job, d *policy.Decision, widest, least int) {
	if widest < 0 {
		d.Why = policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: request(j)}}
		return
	}
	want := amount(j, &r.types[widest], least).Configuration
	d.Why = policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(r.free[widest]), Limit: float64(want.GPUs)}
}

// started is the reason for a grant that is worth as much as value, where what j holds
// is worth as much as held.
func started(j *policy.Job, a *cluster.Allocation, value, held float64) policy.Reason {
	before, now := j.Allocation.Configuration, a.Configuration
	why := policy.Reason{Config: before, Value: value, Limit: held}
	switch {
	case !j.Holding():
		why = policy.Reason{Kind: policy.Started, Config: now, Value: value}
	case before == now:
		why = policy.Reason{Kind: policy.AsPlanned, Config: now, Value: value}
	case before.GPUType != now.GPUType, before.GPUs == now.GPUs: // or as many on other nodes
		why.Kind = policy.Moved
	case before.GPUs > now.GPUs:
		why = policy.Reason{Kind: policy.Shrunk, Config: before}
	default:
		why.Kind = policy.Grown
	}
	return why
}

// worth returns the normalised goodput of an elastic job with an allocation: its speed
// relative to that with the fewest GPUs of the type, times those. Source: Sia §3.3.4.
func (r *round) worth(j *policy.Job, a *cluster.Allocation) float64 {
	t := r.typeIndex(a.GPUType)
	if t < 0 || !j.Adaptivity.Has(job.GPUCount) {
		return float64(a.GPUs)
	}
	least, _, _ := amounts(j, &r.types[t])
	if least == 0 {
		return float64(a.GPUs)
	}
	slow := speed(j, amount(j, &r.types[t], least))
	if v := float64(least) * speed(j, *a) / slow; slow > 0 && !math.IsInf(v, 0) {
		return v
	}
	return float64(a.GPUs)
}

func (r *round) typeIndex(t cluster.GPUType) int {
	for i := range r.types {
		if r.types[i].Type == t {
			return i
		}
	}
	return -1
}

// take takes n GPUs of a type if there are as many.
func (r *round) take(t, n int) bool {
	if r.free[t] < n {
		return false
	}
	r.free[t] -= n
	return true
}
