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

// round makes a first feasible solution from the nudged values, under which few
// items are undecided, and then computes the bound and the regrets from the
// values as given.
func (s *Solver) round() {
	s.weigh(s.prices, nudged)
	s.arrange()
	s.rest = sized(s.rest, s.k)
	copy(s.rest, s.capacity)
	s.best = sized(s.best, len(s.items))
	for _, o := range s.order {
		s.best[o.item] = s.cheapestFitting(int(o.item))
		s.use(int(o.item), s.best[o.item], s.rest, -1)
	}
	s.fill()
	s.bound = s.weigh(s.prices, given)
	s.sharpen()
	s.tolerance = s.opts.Gap * math.Abs(s.bound)
	s.gap = s.missing()
}

// sharpen takes the nudges back: it moves the last vertex to where its planes
// meet for the values as given, and keeps these prices if their bound is lower.
func (s *Solver) sharpen() {
	for r := range s.planes {
		if p := &s.planes[r]; p.k < 0 {
			p.at = s.columns[p.a].value - s.columns[p.b].value
		}
	}
	if !s.meet() {
		return
	}
	if d := s.weigh(s.vertex, given); d < s.bound {
		s.bound = d
		copy(s.prices, s.vertex)
		return
	}
	s.weigh(s.prices, given)
}

// nudged and given are the two values of a column.
func nudged(c *column) float64 { return c.lp }
func given(c *column) float64  { return c.value }

// weigh fills the regrets at the prices and returns the bound.
func (s *Solver) weigh(prices []float64, value func(*column) float64) (bound float64) {
	s.regret = sized(s.regret, len(s.columns))
	for k, b := range s.capacity {
		bound += b * prices[k]
	}
	for i := range s.items {
		r := &s.items[i]
		best := math.Inf(-1)
		for c := r.first; c < r.end; c++ {
			s.regret[c] = value(&s.columns[c]) - s.cost(i, c, prices)
			best = max(best, s.regret[c])
		}
		for c := r.first; c < r.end; c++ {
			s.regret[c] = best - s.regret[c]
		}
		bound += best
	}
	return bound
}

// arrange fills the order of rounding and search.
func (s *Solver) arrange() {
	s.order = s.order[:0]
	for i, r := range s.items {
		least, second := math.Inf(1), math.Inf(1)
		for _, x := range s.regret[r.first:r.end] {
			if x < least {
				least, second = x, least
			} else {
				second = min(second, x)
			}
		}
		s.order = append(s.order, turn{int32(i), s.problem.Items[i].Must, second})
	}
	slices.SortFunc(s.order, decidedFirst)
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
		if a := choice.Uses(k); a > 0 && a > rest[k] {
			return false
		}
	}
	return true
}

// fill lets items move to a more valuable column while one fits, the undecided
// ones first.
func (s *Solver) fill() {
	for _, o := range slices.Backward(s.order) {
		i := int(o.item)
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
