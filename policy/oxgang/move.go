package oxgang

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

const (
	horizon    = 900  // seconds over which a move or a preemption has to pay
	hysteresis = 0.9  // what a better plan must be better by: beliefs are not that exact
	redone     = 10   // what a second of work counts that a preemption loses, in seconds of restart
	hopeless   = 1e-6 // what a move leaves to a job that has nothing left to do
)

// charge sets what it is worth that each job runs at all, and what its columns leave of its
// goodput: m = 0.9·h / (h + restart + lost work) for a move, where h is the time until the
// job ends there, at most the horizon. What the job holds is no move; nor are, for a
// job whose workers join and leave while it trains, other GPUs of the same type.
func (p *Policy) charge(s, there *policy.Snapshot, rows []*goodput.Row) {
	goodput.Each(len(rows), func(i int) { p.chargeOne(s.Jobs[i], there.Jobs[i], s.Round, rows[i], p.active[i]) })
}

// chargeOne sets the same for a job, as it was before nodes went, and on the nodes that are there. It changes nothing else.
func (p *Policy) chargeOne(before, there *policy.Job, round int, r *goodput.Row, st *state) {
	w := &r.Worth
	w.Base, w.Factor, w.Factors = p.o.Lambda, 1, nil
	st.cost, st.move, st.gone = 0, 0, cluster.Configuration{}
	if lost(before, there) {
		st.gone = before.Allocation.Configuration
	}
	cost, margin := p.costs(r.Job(), st)
	if r.Job().Holding() {
		w.Base = p.o.Lambda * p.stays(r.Job().ID, cost, margin)
		w.Factor = margin * horizon / (horizon + cost)
		st.cost, st.move = cost, w.Factor
	}
	if lost(before, r.Job()) || p.differ(r, st, round) {
		st.factors = st.factors[:0]
		for k := range r.Columns() {
			st.factors = append(st.factors, p.factor(r, k, st, cost, margin))
		}
		w.Factors = st.factors
	}
	w.Base += p.runs(st, w) + p.wasted(r, st)
	allow(before, r, st.paused(round))
}

// differ reports whether the columns of a job leave different parts of its goodput.
func (p *Policy) differ(r *goodput.Row, st *state, round int) bool {
	if p.lent != nil || round < st.until {
		return true
	}
	return r.Job().Holding() && (r.Job().Resizes || !endsLate(r, st))
}

// factor returns what column k leaves of the goodput of a job, if a move costs it so many
// seconds.
func (p *Policy) factor(r *goodput.Row, k int, st *state, cost, margin float64) float64 {
	m := p.stable(r, k, st.left)
	if r.Job().Holding() {
		m *= moved(r, k, st.left, cost, margin)
	}
	return m
}

// allow leaves nothing of what a job cannot be granted in this round: what has just had no
// placement, and other GPU types, if it cannot change its own and lost its nodes in this round.
func allow(held *policy.Job, r *goodput.Row, paused []cluster.Configuration) {
	for k := range r.Worth.Factors {
		if c := r.Column(k); !held.KeepsType(c.GPUType) || slices.Contains(paused, c) {
			r.Worth.Factors[k] = 0
		}
	}
}

// stays returns by how much more it is worth that a job goes on than that one starts:
// κ is what its preemption costs, over the time in which it has to pay, and what a
// better plan must be better by. Without it two jobs of equal worth would take turns
// every round.
func (p *Policy) stays(id job.ID, cost, margin float64) float64 {
	if p.ignored.leaves(policy.TermOthers) && id != p.ignored.job {
		return 1
	}
	return 1 + (1 - margin) + cost/horizon
}

// costs returns the seconds that a move costs a job, and the part of its goodput by which a better choice must be better.
func (p *Policy) costs(j *policy.Job, st *state) (seconds, margin float64) {
	seconds, margin = max(0, j.RestartOverhead.Seconds())+redone*st.unsaved, hysteresis
	if p.ignored.own(j.ID, policy.TermRestart) {
		seconds = 0
	}
	if p.ignored.own(j.ID, policy.TermMargin) {
		margin = 1
	}
	return seconds, margin
}

// wasted returns what it is worth, to others, that a job does not do its work twice: its GPUs
// for as long, at the prices of the last round, over the time in which a preemption has to pay.
func (p *Policy) wasted(r *goodput.Row, st *state) float64 {
	own := p.ignored.own(r.Job().ID, policy.TermRestart)
	if others := p.ignored.leaves(policy.TermOthers) && r.Job().ID != p.ignored.job; own || others || st.unsaved == 0 {
		return 0
	}
	held := &r.Job().Allocation
	st.basis.priced = p.prices[held.GPUType] > 0
	return p.prices[held.GPUType] * float64(held.GPUs) * st.unsaved / horizon / r.Worth.Weight
}

// endsLate reports whether the job does not end before the horizon, wherever it is.
func endsLate(r *goodput.Row, st *state) bool { return !(r.Fastest()*horizon > st.left) }

// moved returns what a move to column k leaves of a job's goodput, if it costs so
// many seconds.
func moved(r *goodput.Row, k int, left, cost, margin float64) float64 {
	if inPlace(r.Job(), r, k) {
		return 1
	}
	h := float64(horizon)
	if g := r.Goodput(k); g > 0 {
		h = min(h, left/g)
	}
	if !(h > 0) {
		return hopeless
	}
	return margin * h / (h + cost)
}

// inPlace reports whether the job comes to column k while it trains on.
func inPlace(j *policy.Job, r *goodput.Row, k int) bool {
	return j.Resizes && r.Column(k).GPUType == j.Allocation.GPUType
}
