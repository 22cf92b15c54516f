package mmkp

import "math"

// A plane is a set of prices at which the bound may bend: two columns of an
// item are worth the same there, or one price has a certain value. The planes
// of a vertex are as many as there are resources, and independent.
type plane struct {
	bend bend
	k    int   // the price; -1: two columns are worth the same
	item int32 // theirs
	a, b int32 // the columns
	at   float64
}

// A bend says what the bound does at a plane.
type bend uint8

const (
	flat  bend = iota // it does not bend: a start price, or another column of the item is better
	tie               // the item changes between the columns
	floor             // the price is 0; the edge leads up only
	roof              // nobody uses the resource at this price; the edge leads down only
)

// descent is a walk over the vertices of the bound.
type descent struct {
	prices  []float64 // the best seen
	bound   float64   // there
	steps   int
	vertex  []float64 // where the walk is
	roofs   []float64
	planes  []plane
	inverse []float64 // of the planes' normals, k x k: column r leaves plane r and no other
	work    []float64 // the normals, while they are inverted
	edge    []float64 // a direction in price space
	steep   []float64 // the steepest yet
	pick    []int32   // column per item at the vertex
	idle    []float64 // capacity that the items without a tie leave
}

// descend walks down the edges of the bound from the start prices until none
// leads down, and leaves the best prices in s.prices. The bound is convex and
// linear between planes, so the last vertex is its minimum, but for rounding.
func (s *Solver) descend(from []float64) {
	s.prepare(from)
	s.bound = math.Inf(1)
	for s.steps = 0; ; s.steps++ {
		d, _ := s.evaluate(s.vertex, s.edge, s.pick)
		if d < s.bound {
			s.bound = d
			copy(s.prices, s.vertex)
		}
		if s.steps >= s.opts.MaxSteps || s.ctx.Err() != nil {
			return
		}
		s.flatten()
		s.untie()
		r, slope := s.steepest()
		if r < 0 {
			return
		}
		s.planes[r] = s.walk(d, slope)
		if !s.meet() {
			return
		}
	}
}

// prepare sets the walk to its start.
func (s *Solver) prepare(from []float64) {
	k := s.k
	s.prices, s.vertex, s.idle = sized(s.prices, k), sized(s.vertex, k), sized(s.idle, k)
	s.edge, s.steep = sized(s.edge, k), sized(s.steep, k)
	s.inverse, s.work = sized(s.inverse, k*k), sized(s.work, k*k)
	s.planes, s.pick = sized(s.planes, k), sized(s.pick, len(s.items))
	s.left, s.right, s.middle = sized(s.left, len(s.items)), sized(s.right, len(s.items)), sized(s.middle, len(s.items))
	s.probe = sized(s.probe, k)
	s.findRoofs()
	clear(s.vertex)
	copy(s.vertex, from)
	clear(s.inverse)
	for r := range k {
		s.vertex[r] = min(s.vertex[r], s.roofs[r])
		s.planes[r] = plane{k: r, at: s.vertex[r]}
		if s.vertex[r] == 0 {
			s.planes[r].bend = floor
		}
		s.inverse[r*k+r] = 1
	}
}

// findRoofs finds, for every resource, a price at which no item uses it: the
// lowest bound is below.
func (s *Solver) findRoofs() {
	s.roofs = sized(s.roofs, s.k)
	clear(s.roofs)
	for _, g := range s.groups {
		base, v := s.hull[g.first], s.hull[min(g.first+1, g.end-1)]
		if v.amount > base.amount {
			s.raise(int(g.resource), (v.lp-base.lp)/(v.amount-base.amount))
		}
	}
	for i, r := range s.items {
		for c := r.multi; c < r.end; c++ {
			choice := &s.problem.Items[i].Choices[s.columns[c].choice]
			worth := s.columns[c].lp - s.columns[r.first].lp
			for k := range s.problem.Capacity {
				if a := choice.Uses(k); a > 0 {
					s.raise(k, worth/a)
				}
			}
		}
	}
}

func (s *Solver) raise(k int, price float64) { s.roofs[k] = max(s.roofs[k], 1.001*price) }

// evaluate returns the bound at the given prices and its slope in direction d,
// and writes the column every item takes there to pick. Where columns tie, the
// slope is one of a subgradient.
func (s *Solver) evaluate(prices, d []float64, pick []int32) (bound, slope float64) {
	for k, b := range s.capacity {
		bound += b * prices[k]
		slope += b * d[k]
	}
	for i := range s.items {
		c, worth := s.take(i, prices)
		pick[i] = c
		bound += worth
		slope -= s.cost(i, c, d)
	}
	return bound, slope
}

// take returns the column that is worth most to item i at the given prices, and
// what it is worth. Every group remembers where it was, so that a small move of
// prices costs little.
func (s *Solver) take(i int, prices []float64) (taken int32, worth float64) {
	r := &s.items[i]
	taken, worth = r.first, s.columns[r.first].lp
	for g := r.group; g < r.last; g++ {
		price := prices[s.groups[g].resource]
		v := &s.hull[s.settle(&s.groups[g], price)]
		if w := v.lp - price*v.amount; w > worth {
			taken, worth = v.column, w
		}
	}
	for c := r.multi; c < r.end; c++ {
		if w := s.columns[c].lp - s.cost(i, c, prices); w > worth {
			taken, worth = c, w
		}
	}
	return taken, worth
}

// settle moves g to the corner that is best at the price and returns it.
func (s *Solver) settle(g *group, price float64) int32 {
	at := g.at
	v := s.hull[at]
	for ; at+1 < g.end; at++ {
		next := s.hull[at+1]
		if next.lp-v.lp <= price*(next.amount-v.amount) {
			break
		}
		v = next
	}
	for ; at > g.first; at-- {
		next := s.hull[at-1]
		if v.lp-next.lp > price*(v.amount-next.amount) {
			break
		}
		v = next
	}
	g.at = at
	return at
}
