package queue

import (
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/policy"
)

// A Round is a plan in the making, for a policy that decides itself which job is
// served next and on which GPU type. Jobs and types go by their places in
// Snapshot.Jobs and Cluster.Types.
type Round struct{ r *round }

// NewRound returns a round in which those jobs are decided about that leave no
// choice: profiled ones get nothing, non-preemptive ones keep what they hold, and
// reservations are granted.
func NewRound(s *policy.Snapshot) *Round {
	r := newRound(s, nil)
	r.pin()
	return &Round{r}
}

// KeepRunning lets running jobs, about which nothing is decided, keep what they hold.
func (r *Round) KeepRunning() {
	r.r.keepWhere(func(*policy.Job) bool { return true })
}

// KeepUnsaved lets those of them keep what they hold that have no checkpoints. It is for
// policies that do not weigh what a preempted job loses: such a job would begin anew after
// each turn or auction, and might never end.
func (r *Round) KeepUnsaved() {
	r.r.keepWhere(func(j *policy.Job) bool { return j.NoCheckpoint })
}

// Decided reports whether there is a decision about job i.
func (r *Round) Decided(i int) bool { return r.r.decided(i) }

// Free returns the GPUs of type t that nobody has got yet.
func (r *Round) Free(t int) int { return r.r.free[t] }

// FreeByType returns the same of every type. The caller may modify it.
func (r *Round) FreeByType() []int { return slices.Clone(r.r.free) }

// Gang returns what job i asks for on type t, and whether an empty cluster could
// carry it.
func (r *Round) Gang(i, t int) (cluster.Allocation, bool) {
	j, info := r.r.s.Jobs[i], &r.r.types[t]
	if !usable(j, info) {
		return cluster.Allocation{}, false
	}
	return gang(j, info), true
}

// Range returns the fewest and most GPUs of type t that job i may have in an empty
// cluster, and the step from one amount to the next: whole replicas, and whole workers,
// of an elastic job.
// A gang has its own size as fewest and most. All are 0 if there is no such amount.
func (r *Round) Range(i, t int) (least, most, step int) {
	return amounts(r.r.s.Jobs[i], &r.r.types[t])
}

// Amount returns n GPUs of type t for job i, on as few nodes as can carry them.
func (r *Round) Amount(i, t, n int) cluster.Allocation {
	return amount(r.r.s.Jobs[i], &r.r.types[t], n)
}

// Grant gives job i, about which nothing is decided, its gang on type t, and
// reports whether there is room.
func (r *Round) Grant(i, t int) bool {
	j, info := r.r.s.Jobs[i], &r.r.types[t]
	if !usable(j, info) || r.r.free[t] < size(j, info.Type) {
		return false
	}
	return r.r.give(i, t, gang(j, info))
}

// Give gives job i, about which nothing is decided, n GPUs of type t, one of the
// amounts of Range, and reports whether it is one and there is room.
func (r *Round) Give(i, t, n int) bool {
	least, most, step := r.Range(i, t)
	if n < max(1, least) || n > most || (n-least)%step != 0 || r.r.free[t] < n {
		return false
	}
	a := r.Amount(i, t, n)
	if !r.r.give(i, t, a) {
		return false
	}
	j := r.r.s.Jobs[i]
	r.r.plan.Jobs[i].Why = started(j, &a, r.r.worth(j, &a), r.r.worth(j, &j.Allocation))
	return true
}

// Set gives job i, about which nothing is decided, an allocation that it may have, for a
// caller that counts itself what is free.
func (r *Round) Set(i int, a cluster.Allocation) {
	j, d := r.r.s.Jobs[i], &r.r.plan.Jobs[i]
	d.Allocation, d.Batch = a, j.AsSubmitted(&a)
	d.Why = started(j, &a, r.r.worth(j, &a), r.r.worth(j, &j.Allocation))
}

// Refuse says that job i, about which nothing is decided, waits because too few GPUs
// are free, or that no cluster like this could carry it.
func (r *Round) Refuse(i int) {
	j, widest, least := r.r.s.Jobs[i], -1, 0
	for t := range r.r.types {
		if n, _, _ := r.Range(i, t); n > 0 && (widest < 0 || r.r.free[t] > r.r.free[widest]) {
			widest, least = t, n
		}
	}
	r.r.refuse(j, &r.r.plan.Jobs[i], widest, least)
}

// Plan returns the plan as it is, for the caller to say why the others wait.
func (r *Round) Plan() *policy.Plan { return r.r.plan }
