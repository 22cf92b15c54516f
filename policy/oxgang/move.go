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
	hysteresis = 0.9  // factor on the goodput of other choices, because estimates are inexact
	redone     = 10   // seconds of restart that count as much as one second of lost work
	hopeless   = 1e-6 // factor of a move for a job with no work left
)

// charge sets the base worth of each job and the factors of its columns. A move has the factor m = 0.9·h / (h +
// restart + lost work), where h is the time until the job ends there, at most the horizon. The held configuration has
// factor 1. So have other GPU counts of its type if the job resizes while it trains.
func (p *Policy) charge(s, there *policy.Snapshot, rows []*goodput.Row) {
	goodput.Each(len(rows), func(i int) { p.chargeOne(s.Jobs[i], there.Jobs[i], s.Round, rows[i], p.active[i]) })
}

// chargeOne does this for one job. before is the job before nodes were lost; there is the job on the remaining nodes.
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

func (p *Policy) differ(r *goodput.Row, st *state, round int) bool {
	if p.lent != nil || round < st.until {
		return true
	}
	return r.Job().Holding() && (r.Job().Resizes || !endsLate(r, st))
}

func (p *Policy) factor(r *goodput.Row, k int, st *state, cost, margin float64) float64 {
	m := p.stable(r, k, st.left)
	if r.Job().Holding() {
		m *= moved(r, k, st.left, cost, margin)
	}
	return m
}

// allow sets the factor to 0 for choices that the job cannot get in this round: those that had no placement recently, and
// other GPU types for a job that lost its nodes but cannot change its type.
func allow(held *policy.Job, r *goodput.Row, paused []cluster.Configuration) {
	for k := range r.Worth.Factors {
		if c := r.Column(k); !held.KeepsType(c.GPUType) || slices.Contains(paused, c) {
			r.Worth.Factors[k] = 0
		}
	}
}

// stays returns how much more it is worth to continue a job than to start one. Without this κ, two jobs of equal
// worth would take turns every round.
func (p *Policy) stays(id job.ID, cost, margin float64) float64 {
	if p.ignored.leaves(policy.TermOthers) && id != p.ignored.job {
		return 1
	}
	return 1 + (1 - margin) + cost/horizon
}

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

// wasted returns the cost to others if the job has to repeat its work: its GPUs for that time at the prices of the
// last round, over the horizon.
func (p *Policy) wasted(r *goodput.Row, st *state) float64 {
	own := p.ignored.own(r.Job().ID, policy.TermRestart)
	if others := p.ignored.leaves(policy.TermOthers) && r.Job().ID != p.ignored.job; own || others || st.unsaved == 0 {
		return 0
	}
	held := &r.Job().Allocation
	st.basis.priced = p.prices[held.GPUType] > 0
	return p.prices[held.GPUType] * float64(held.GPUs) * st.unsaved / horizon / r.Worth.Weight
}

func endsLate(r *goodput.Row, st *state) bool { return !(r.Fastest()*horizon > st.left) }

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

func inPlace(j *policy.Job, r *goodput.Row, k int) bool {
	return j.Resizes && r.Column(k).GPUType == j.Allocation.GPUType
}
