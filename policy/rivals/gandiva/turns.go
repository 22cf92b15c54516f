package gandiva

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type round struct {
	*grant.Round
	s    *policy.Snapshot
	free []int
}

func (p *Policy) meet(r *round) {
	p.round++
	for i, j := range r.s.Jobs {
		if r.Decided(i) {
			continue
		}
		m := p.turns[j.ID]
		if m == nil {
			m = &turn{id: j.ID, since: j.Submitted}
			p.turns[j.ID] = m
			p.line = append(p.line, m)
		}
		if m.index, m.lastRound, m.gpus = i, p.round, 0; !j.Holding() && m.runs {
			m.turn(false, r.s.Now)
		}
	}
	p.line = slices.DeleteFunc(p.line, func(m *turn) bool {
		if m.lastRound != p.round {
			delete(p.turns, m.id)
		}
		return m.lastRound != p.round
	})
}

func (m *turn) turn(runs bool, now time.Time) {
	if m.runs != runs {
		m.runs, m.since = runs, now
	}
}

func (p *Policy) over(s *policy.Snapshot) bool {
	if s.Now.Before(p.next) {
		return false
	}
	restarts := time.Duration(0)
	for _, m := range p.line {
		restarts += s.Jobs[m.index].RestartOverhead
	}
	mean := restarts.Seconds() / float64(max(1, len(p.line)))
	p.next = s.Now.Add(max(p.o.Slice, time.Duration(p.o.Restarts*mean*float64(time.Second))))
	return true
}

// turn sorts the jobs. Running jobs come first within a slice. At its end waiting jobs do, then all by longest
// wait or shortest run. All slices end together, so that a large gang cannot starve.
func (p *Policy) turn(over bool) {
	slices.SortStableFunc(p.line, func(a, b *turn) int {
		since := a.since.Compare(b.since)
		switch {
		case a.runs != b.runs && a.runs == over:
			return 1
		case a.runs != b.runs:
			return -1
		case a.runs:
			return -since
		}
		return since
	})
}

func (p *Policy) serve(r *round) {
	for _, m := range p.line {
		if m.t = r.where(m.index); m.t >= 0 {
			m.gpus = r.asked(m.index, m.t)
			r.free[m.t] -= m.gpus
		}
	}
}

func (r *round) where(i int) int {
	best, j := -1, r.s.Jobs[i]
	for t, info := range r.s.Cluster.Types() {
		n := r.asked(i, t)
		if n == 0 || n > r.free[t] {
			continue
		}
		if j.Holding() && j.Allocation.GPUType == info.Type {
			return t
		}
		if best < 0 || r.free[t] > r.free[best] {
			best = t
		}
	}
	return best
}

func (r *round) asked(i, t int) int {
	least, most, step := r.Range(i, t)
	if least == 0 {
		return 0
	}
	n := min(most, max(least, r.s.Jobs[i].GPUs))
	return least + (n-least)/step*step
}

func (p *Policy) regrow(r *round) {
	for _, m := range p.line {
		j := r.s.Jobs[m.index]
		for j.Holding() && m.t >= 0 && r.s.Cluster.Types()[m.t].Type == j.Allocation.GPUType && m.gpus < j.Allocation.GPUs && r.grows(m) {
			r.lend(m)
		}
	}
}

// grow adds replicas at the start of a slice, fewest GPUs first.
// Source: Gandiva §3.3, grow-shrink.
func (p *Policy) grow(r *round) {
	for {
		var least *turn
		for _, m := range p.line {
			if r.grows(m) && (least == nil || m.gpus < least.gpus) {
				least = m
			}
		}
		if least == nil {
			return
		}
		r.lend(least)
	}
}

func (r *round) lend(m *turn) {
	_, _, step := r.Range(m.index, m.t)
	m.gpus += step
	r.free[m.t] -= step
}

func (r *round) grows(m *turn) bool {
	if m.gpus == 0 || r.free[m.t] == 0 {
		return false
	}
	_, most, step := r.Range(m.index, m.t)
	return m.gpus+step <= most && step <= r.free[m.t]
}

func (p *Policy) give(r *round) {
	for _, m := range p.line {
		m.turn(m.gpus > 0 && r.Give(m.index, m.t, m.gpus), r.s.Now)
	}
	for _, m := range p.line {
		if !r.Decided(m.index) {
			r.wait(m)
		}
	}
}

func (r *round) wait(m *turn) {
	j := r.s.Jobs[m.index]
	if r.Refuse(m.index); r.Plan().Jobs[m.index].Why.Kind == policy.WaitNoCapacity {
		r.Plan().Jobs[m.index].Why = policy.Turn(j, r.s.Now)
	}
}
