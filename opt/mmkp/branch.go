package mmkp

import (
	"cmp"
	"math"
	"slices"
)

// search is the depth-first search over the open items.
type search struct {
	nodes   int
	status  Status
	open    []undecided
	closed  []undecided // one option each
	options []option
	trail   []int32   // option per depth
	levels  []float64 // capacity left, k per depth
	most    []float64 // what the items from a depth on can use at most, k per depth
	least   []float64 // and must use at least
	seen    memo
}

// An undecided item and its options in s.options, by regret.
type undecided struct {
	item       int32
	first, end int32
}

// An option is a column whose regret alone does not rule it out.
type option struct {
	regret float64
	column int32
}

// branchAndBound improves the best solution until the bound proves it, or a
// limit stops it.
func (s *Solver) branchAndBound() {
	s.nodes, s.status = 0, Optimal
	if s.gap <= s.tolerance {
		return
	}
	if s.opts.MaxNodes == 0 {
		s.status = Limited
		return
	}
	if !s.collect() {
		return // nothing is better
	}
	s.seen.reset(s.k)
	s.branch(0, 0)
}

// collect lists the options of every item, and makes the levels' tables. An item
// that must be served has no option "none". It reports false if an item has no
// option left, or the items with one do not fit.
func (s *Solver) collect() bool {
	s.open, s.closed, s.options = s.open[:0], s.closed[:0], s.options[:0]
	limit := s.gap - s.tolerance
	for _, o := range s.order {
		r := &s.items[o.item]
		u := undecided{item: o.item, first: int32(len(s.options))}
		none := r.first
		if o.must {
			none++
		}
		for c := none; c < r.end; c++ {
			if s.regret[c] < limit {
				s.options = append(s.options, option{s.regret[c], c})
			}
		}
		u.end = int32(len(s.options))
		switch u.end - u.first {
		case 0:
			return false
		case 1:
			s.closed = append(s.closed, u)
			continue
		}
		slices.SortFunc(s.options[u.first:], func(a, b option) int {
			return cmp.Or(cmp.Compare(a.regret, b.regret), cmp.Compare(a.column, b.column))
		})
		s.open = append(s.open, u)
	}
	n := (len(s.open) + 1) * s.k
	s.levels, s.trail = sized(s.levels, n), sized(s.trail, len(s.open))
	copy(s.levels, s.capacity)
	for _, u := range s.closed {
		s.use(int(u.item), s.options[u.first].column, s.levels[:s.k], -1)
	}
	s.addUp()
	return slices.Min(s.levels[:s.k]) >= 0
}

// addUp fills s.most and s.least from the last level to the first.
func (s *Solver) addUp() {
	n := (len(s.open) + 1) * s.k
	s.most, s.least = sized(s.most, n), sized(s.least, n)
	clear(s.most[n-s.k:])
	clear(s.least[n-s.k:])
	for d, u := range slices.Backward(s.open) {
		for k := range s.k {
			low, high := math.Inf(1), 0.0
			for _, o := range s.options[u.first:u.end] {
				x := s.uses(int(u.item), o.column, k)
				low, high = min(low, x), max(high, x)
			}
			at := d*s.k + k
			s.most[at] = s.most[at+s.k] + high
			s.least[at] = s.least[at+s.k] + low
		}
	}
}

// branch tries the options of the open item at depth d; regret is that of the
// items before it. A solution is only of use if its regrets and the price of
// what it leaves idle stay below the best one's gap.
func (s *Solver) branch(d int, regret float64) {
	if s.stopped() {
		return
	}
	rest := s.levels[d*s.k : (d+1)*s.k]
	if s.tooMuch(d, rest) || regret+s.wasted(d, rest) >= s.gap-s.tolerance {
		return
	}
	if d == len(s.open) {
		s.record(regret + s.idleCost(rest))
		return
	}
	if s.seen.better(d, rest, regret) {
		return
	}
	u := s.open[d]
	next := s.levels[(d+1)*s.k : (d+2)*s.k]
	for o := u.first; o < u.end; o++ {
		more := s.options[o].regret
		if regret+more >= s.gap-s.tolerance || s.status != Optimal {
			return
		}
		if c := s.options[o].column; s.fits(int(u.item), c, rest) {
			copy(next, rest)
			s.use(int(u.item), c, next, -1)
			s.trail[d] = o
			s.branch(d+1, regret+more)
		}
	}
}

// stopped counts a node and reports whether a limit or the context ends the search.
func (s *Solver) stopped() bool {
	if s.status != Optimal {
		return true
	}
	s.nodes++
	if s.nodes >= s.opts.MaxNodes {
		s.status = Limited
	} else if s.nodes%1024 == 0 && s.ctx.Err() != nil {
		s.status = Interrupted
	}
	return false
}

// tooMuch reports whether the items from depth d on must use more than is left.
func (s *Solver) tooMuch(d int, rest []float64) bool {
	for k, b := range rest {
		if s.least[d*s.k+k] > b+slack*s.capacity[k] {
			return true
		}
	}
	return false
}

// wasted returns the price of the capacity that the items from depth d on
// cannot use, whatever they take.
func (s *Solver) wasted(d int, rest []float64) float64 {
	total := 0.0
	for k, b := range rest {
		if over := b - s.most[d*s.k+k]; over > 0 {
			total += over * s.prices[k]
		}
	}
	return total
}

// record makes the trail the best solution.
func (s *Solver) record(gap float64) {
	s.gap = gap
	for _, u := range s.closed {
		s.best[u.item] = s.options[u.first].column
	}
	for d, u := range s.open {
		s.best[u.item] = s.options[s.trail[d]].column
	}
}
