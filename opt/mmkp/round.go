package mmkp

import (
	"cmp"
	"math"
	"slices"
)

// A turn is an item's place in the order of rounding and search.
type turn struct {
	item   int32
	must   bool
	second float64 // regret of its second best column
}

// rounding holds regrets and the best solution found.
type rounding struct {
	regret    []float64 // per column: what it lacks of its item's best at the prices
	rest      []float64 // capacity left
	order     []turn
	best      []int32 // column per item
	gap       float64 // bound - value of best
	tolerance float64 // a gap this small is none
}

// round computes the regrets and the bound from the values as given, and makes
// a first feasible solution.
func (s *Solver) round() {
	s.weigh()
	s.tolerance = s.opts.Gap * math.Abs(s.bound)
	slices.SortFunc(s.order, decidedFirst)
	s.rest = sized(s.rest, s.k)
	copy(s.rest, s.capacity)
	s.best = sized(s.best, len(s.items))
	for _, o := range s.order {
		s.best[o.item] = s.cheapestFitting(int(o.item))
		s.use(int(o.item), s.best[o.item], s.rest, -1)
	}
	s.fill()
	s.gap = s.missing()
}

// weigh fills the regrets, the bound and the order.
func (s *Solver) weigh() {
	s.regret = sized(s.regret, len(s.columns))
	s.order = s.order[:0]
	s.bound = 0
	for k, b := range s.capacity {
		s.bound += b * s.prices[k]
	}
	for i := range s.items {
		r := &s.items[i]
		best, second := math.Inf(-1), math.Inf(-1)
		for c := r.first; c < r.end; c++ {
			worth := s.columns[c].value - s.cost(i, c, s.prices)
			s.regret[c] = worth
			if worth > best {
				best, second = worth, best
			} else {
				second = max(second, worth)
			}
		}
		for c := r.first; c < r.end; c++ {
			s.regret[c] = best - s.regret[c]
		}
		s.bound += best
		s.order = append(s.order, turn{item: int32(i), must: s.problem.Items[i].Must, second: best - second})
	}
}

// decidedFirst orders items that must be served first, then those whose second
// best column is worst: the undecided ones come last and fill what is left.
func decidedFirst(a, b turn) int {
	if a.must != b.must {
		if a.must {
			return -1
		}
		return 1
	}
	return cmp.Or(-cmp.Compare(a.second, b.second), cmp.Compare(a.item, b.item))
}

// cheapestFitting returns the column of item i of least regret that fits into
// the rest; "none" always does.
func (s *Solver) cheapestFitting(i int) int32 {
	best := s.items[i].first
	for c := best + 1; c < s.items[i].end; c++ {
		if s.regret[c] < s.regret[best] && s.fits(i, c, s.rest) {
			best = c
		}
	}
	return best
}

// fits reports whether column c of item i fits into rest.
func (s *Solver) fits(i int, c int32, rest []float64) bool {
	col := &s.columns[c]
	if col.resource != several {
		return col.amount == 0 || col.amount <= rest[col.resource]
	}
	choice := &s.problem.Items[i].Choices[col.choice]
	for k := range s.problem.Capacity {
		if a := choice.uses(k); a > 0 && a > rest[k] {
			return false
		}
	}
	return true
}

// fill lets items move to a more valuable column while one fits, the undecided
// ones first.
func (s *Solver) fill() {
	for n := len(s.order) - 1; n >= 0; n-- {
		i := int(s.order[n].item)
		now := s.best[i]
		s.use(i, now, s.rest, 1)
		for c := s.items[i].first; c < s.items[i].end; c++ {
			if s.columns[c].value > s.columns[now].value && s.fits(i, c, s.rest) {
				now = c
			}
		}
		s.best[i] = now
		s.use(i, now, s.rest, -1)
	}
}

// missing returns bound - value of the best solution: its regrets and the price
// of its idle capacity.
func (s *Solver) missing() float64 {
	total := s.idleCost(s.rest)
	for _, c := range s.best {
		total += s.regret[c]
	}
	return total
}

// idleCost returns what the rest would bring at the prices.
func (s *Solver) idleCost(rest []float64) float64 {
	total := 0.0
	for k, b := range rest {
		total += b * s.prices[k]
	}
	return total
}
