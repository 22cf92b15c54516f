package oxgang

import (
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

const (
	horizon    = 900  // seconds over which a move or a preemption has to pay
	hysteresis = 0.9  // what a better plan must be better by: beliefs are not that exact
	lost       = 10   // what a second of work counts that a preemption loses, in seconds of restart
	hopeless   = 1e-6 // what a move leaves to a job that has nothing left to do
)

// charge sets what it is worth that each job runs at all, and what a move leaves of
// its goodput: m = 0.9·h / (h + restart + lost work), where h is the time until the
// job ends there, at most the horizon. What the job holds is no move; nor are, for a
// job whose workers join and leave while it trains, other GPUs of the same type.
func (p *Policy) charge(rows []*goodput.Row) {
	for i, r := range rows {
		j, st, w := r.Job(), p.active[i], &r.Worth
		w.Base, w.Factor, w.Factors = p.o.Lambda, 1, nil
		if !j.Holding() {
			continue
		}
		cost := max(0, j.RestartOverhead.Seconds()) + lost*st.unsaved
		w.Base *= stays(cost)
		w.Factor = hysteresis * horizon / (horizon + cost)
		if !j.Resizes && endsLate(r, st) {
			continue // the same for all columns
		}
		w.Factors = make([]float64, r.Columns())
		for k := range w.Factors {
			w.Factors[k] = moved(r, k, st.left, cost)
		}
	}
}

// stays returns by how much more it is worth that a job goes on than that one starts:
// κ is what its preemption costs, over the time in which it has to pay, and what a
// better plan must be better by. Without it two jobs of equal worth would take turns
// every round.
func stays(cost float64) float64 { return 1 + (1 - hysteresis) + cost/horizon }

// endsLate reports whether the job does not end before the horizon, wherever it is.
func endsLate(r *goodput.Row, st *state) bool {
	for k := range r.Columns() {
		if r.Allowed(k) && r.Goodput(k)*horizon > st.left {
			return false
		}
	}
	return true
}

// moved returns what a move to column k leaves of a job's goodput, if it costs so
// many seconds.
func moved(r *goodput.Row, k int, left, cost float64) float64 {
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
	return hysteresis * h / (h + cost)
}

// inPlace reports whether the job comes to column k while it trains on.
func inPlace(j *policy.Job, r *goodput.Row, k int) bool {
	return j.Resizes && r.Column(k).GPUType == j.Allocation.GPUType
}
