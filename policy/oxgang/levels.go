package oxgang

import (
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// Priority. Jobs of a higher priority choose first, and those of a lower one among what they leave; package goodput calls that levels.
// A job that may not be preempted keeps what it has, whatever its priority. Beyond what it asks for a job has no claim: GPUs that are
// left after all levels go to jobs that grow, of whatever priority.
//
// Nodes on their way. A job for which rented nodes were ordered goes after the others of its priority, who keep what they hold: it
// may have what is free meanwhile, and nobody is stopped for it. Where its nodes do not come in the time over which a preemption has to
// pay, or their provider refuses them, it goes with the others.

// order sets the level of each row: one for all, where priorities are equal and no nodes are on their way.
func (p *Policy) order(s *policy.Snapshot, sized *policy.Plan, rows []*goodput.Row) {
	several := false
	for i, r := range rows {
		st := p.active[i]
		st.expects = st.awaits(s, sized, i)
		several = several || st.expects || p.priority(r) != p.priority(rows[0])
		r.Level, r.Keeps = 0, false
	}
	if several {
		p.rankLevels(rows)
	}
}

// rankLevels sets levels by priority, and of one priority those last that expect nodes.
func (p *Policy) rankLevels(rows []*goodput.Row) {
	all, expect := make([]float64, len(rows)), make(map[float64]bool) // all are negative priorities, so that the highest is first
	for i, r := range rows {
		all[i] = -p.priority(r)
		expect[all[i]] = expect[all[i]] || p.active[i].expects
	}
	levels := slices.Compact(slices.Sorted(slices.Values(all)))
	for i, r := range rows {
		at, _ := slices.BinarySearch(levels, all[i])
		if r.Level, r.Keeps = 2*at, expect[all[i]]; p.active[i].expects {
			r.Level++
		}
	}
}

// priority returns that of a row's job: 0 for what is no number, and for all where priorities are left out.
func (p *Policy) priority(r *goodput.Row) float64 {
	if p.ignored.leaves(policy.TermPriority) || math.IsNaN(r.Job().Priority) {
		return 0
	}
	return r.Job().Priority
}

// awaits reports whether rented nodes for a job that holds nothing are on their way, for no longer than a preemption has to pay in.
func (st *state) awaits(s *policy.Snapshot, sized *policy.Plan, i int) bool {
	if s.Jobs[i].Holding() {
		st.ordered = time.Time{}
		return false
	}
	if i >= len(sized.Jobs) || sized.Jobs[i].Why.Kind != policy.WaitNodes || !brings(s, &sized.Jobs[i].Why) {
		return false
	}
	if st.ordered.IsZero() {
		st.ordered = s.Now
	}
	return s.Now.Sub(st.ordered).Seconds() < horizon
}

// brings reports whether a provider of the nodes that a job waits for has not refused them.
func brings(s *policy.Snapshot, why *policy.Reason) bool {
	for i := range s.Rentals {
		if r := &s.Rentals[i]; r.Node.GPUType == why.Config.GPUType && !r.Refused {
			return true
		}
	}
	return false
}

// expecting tells jobs that wait for nodes on their way that they do.
func (p *Policy) expecting(sized, plan *policy.Plan) {
	for i, st := range p.active {
		if d := &plan.Jobs[i]; st.expects && d.Allocation.IsZero() {
			d.Why = sized.Jobs[i].Why
		}
	}
}
