package oxgang

import (
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// Priority. Jobs of a higher priority choose first, and lower ones share the rest; package goodput calls these
// levels. A job that cannot be preempted keeps what it has, whatever its priority. A job has no claim beyond what it
// requests: GPUs left after all levels go to jobs that grow, of any priority.
//
// Nodes on their way. A job for which rented nodes were ordered follows the others of its priority, which keep what
// they hold. It may use free GPUs meanwhile, but no job is stopped for it. It joins the others if its nodes do not
// arrive within the horizon, or the provider refuses them.

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

func (p *Policy) rankLevels(rows []*goodput.Row) {
	all, expect := make([]float64, len(rows)), make(map[float64]bool) // negated, so that the highest priority sorts first
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

func (p *Policy) priority(r *goodput.Row) float64 {
	if p.ignored.leaves(policy.TermPriority) || math.IsNaN(r.Job().Priority) {
		return 0
	}
	return r.Job().Priority
}

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

func brings(s *policy.Snapshot, why *policy.Reason) bool {
	for i := range s.Rentals {
		if r := &s.Rentals[i]; r.Node.GPUType == why.Config.GPUType && !r.Refused {
			return true
		}
	}
	return false
}

func (p *Policy) expecting(sized, plan *policy.Plan) {
	for i, st := range p.active {
		if d := &plan.Jobs[i]; st.expects && d.Allocation.IsZero() {
			d.Why = sized.Jobs[i].Why
		}
	}
}
