package mmkp

import (
	"math"
	"slices"
)

// A search proves the incumbent optimal, or finds a better solution: depth first over the options of small regret.
type search struct {
	call     *call
	core     *coreProblem
	inv      *inventory
	rounding *rounding
	options  *candidates
	mending  *mending

	nodes  int
	budget int
	status Status
	trail  []int32
	levels []float64 // capacity left, k per depth
	most   []float64 // most that the items from a depth on can use, k per depth
	least  []float64 // least that they must use
	seen   memo
}

// Limits on the options for improvements and for the search. With more than maxOptions in the whole program nothing
// is proven.
const (
	minNear    = 1 << 9
	maxNear    = 1 << 12
	maxOptions = 1 << 13
	maxOpen    = 128     // items of the core, for a search
	maxSearch  = 1 << 19 // nodes times open items; beyond that a proof is out of reach
)

// improve makes the best solution better until the bound proves it, or a limit is reached: first by shifts of core
// items, then by a search if there are few options.
func (s *search) improve() {
	s.nodes, s.mending.tried, s.status = 0, 0, Limited
	if s.call.opts.MaxNodes > 0 && s.call.ctx.Err() == nil {
		few := s.polish() && len(s.options.open) <= maxOpen
		if few && s.rounding.gap > s.rounding.tolerance && s.options.collect(true, s.rounding.gap-s.rounding.tolerance, maxOptions) {
			s.prove()
		}
	}
	switch {
	case s.rounding.gap <= s.rounding.tolerance:
		s.status = Optimal
	case s.call.ctx.Err() != nil:
		s.status = Interrupted
	}
}

// polish mends the solution by the core's options of least regret, and by more of them while that helps little.
func (s *search) polish() (all bool) {
	for near := minNear; s.rounding.gap > s.rounding.tolerance && near <= maxNear; {
		before, limit := s.rounding.gap, s.rounding.gap
		for n := 0; n < 40 && !s.options.collect(false, limit, near+len(s.core.Items)); n++ {
			share := float64(len(s.options.open)+len(s.options.closed)) / float64(len(s.core.Items))
			limit *= min(max(share, 0.1), 0.7) // the number of options is about proportional to the limit
		}
		all = limit == before
		s.mending.mend()
		if s.rounding.gap > 0.7*before {
			near *= 2
			if all {
				break
			}
		}
	}
	return all
}

func (s *search) prove() {
	before := s.rounding.gap
	s.mending.mend()
	if s.rounding.gap < before && !s.options.collect(true, s.rounding.gap-s.rounding.tolerance, maxOptions) {
		return
	}
	if !s.prepareLevels() {
		s.status = Optimal
		return
	}
	s.budget, s.status = min(s.call.opts.MaxNodes, maxSearch/(1+len(s.options.open))), Optimal
	s.seen.reset(s.core.K)
	s.branch(0, 0)
}

func (s *search) prepareLevels() bool {
	n := (len(s.options.open) + 1) * s.core.K
	s.levels, s.trail = sized(s.levels, n), sized(s.trail, len(s.options.open))
	copy(s.levels, s.core.Spare)
	if s.options.scattered {
		copy(s.levels, s.core.Capacity)
	}
	for _, u := range s.options.closed {
		if u.first == u.end {
			return false
		}
		s.core.Use(&s.core.Columns[u.first], s.levels[:s.core.K], -1)
	}
	s.addUp()
	return slices.Min(s.levels[:s.core.K]) >= 0
}

func (s *search) addUp() {
	n := (len(s.options.open) + 1) * s.core.K
	s.most, s.least = sized(s.most, n), sized(s.least, n)
	clear(s.most[n-s.core.K:])
	clear(s.least[n-s.core.K:])
	for d, u := range slices.Backward(s.options.open) {
		for k := range s.core.K {
			low, high := math.Inf(1), 0.0
			for _, o := range s.core.Columns[u.first:u.end] {
				x := s.core.Uses(&o, k)
				low, high = min(low, x), max(high, x)
			}
			at := d*s.core.K + k
			s.most[at] = s.most[at+s.core.K] + high
			s.least[at] = s.least[at+s.core.K] + low
		}
	}
}

// branch tries the options of the open item at depth d; regret is the sum for the items before it. A branch is cut if
// its regrets and the price of capacity that must stay idle reach the gap.
func (s *search) branch(d int, regret float64) {
	if s.stopped() {
		return
	}
	rest := s.levels[d*s.core.K : (d+1)*s.core.K]
	if s.tooMuch(d, rest) || regret+s.wasted(d, rest) >= s.rounding.gap-s.rounding.tolerance {
		return
	}
	if d == len(s.options.open) {
		s.record(regret + s.core.Idle(rest))
		return
	}
	if s.seen.better(d, rest, regret) {
		return
	}
	u := s.options.open[d]
	next := s.levels[(d+1)*s.core.K : (d+2)*s.core.K]
	for o := u.first; o < u.end; o++ {
		more := s.core.Columns[o].Regret
		if regret+more >= s.rounding.gap-s.rounding.tolerance || s.status != Optimal {
			return
		}
		if c := &s.core.Columns[o]; s.core.FitsInto(c, rest) {
			copy(next, rest)
			s.core.Use(c, next, -1)
			s.trail[d] = o
			s.branch(d+1, regret+more)
		}
	}
}

func (s *search) stopped() bool {
	if s.status != Optimal {
		return true
	}
	s.nodes++
	if s.nodes >= s.budget {
		s.status = Limited
	} else if s.nodes%1024 == 0 && s.call.ctx.Err() != nil {
		s.status = Interrupted
	}
	return false
}

// tooMuch reports whether the items from depth d on must use more than is left.
func (s *search) tooMuch(d int, rest []float64) bool {
	for k, b := range rest {
		if s.least[d*s.core.K+k] > b+slack*s.core.Capacity[k] {
			return true
		}
	}
	return false
}

func (s *search) wasted(d int, rest []float64) float64 {
	total := 0.0
	for k, b := range rest {
		if over := b - s.most[d*s.core.K+k]; over > 0 {
			total += over * s.core.Prices[k]
		}
	}
	return total
}

func (s *search) record(gap float64) {
	s.rounding.gap = gap
	for _, u := range s.options.closed {
		s.inv.items[u.slot].taken = s.core.Columns[u.first].ID
	}
	for d, u := range s.options.open {
		s.inv.items[u.slot].taken = s.core.Columns[s.trail[d]].ID
	}
}
