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
				if a := choice.uses(k); a > 0 {
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

// flatten marks the ties that are none at the vertex: on the way along the edge
// a third column became better than both.
func (s *Solver) flatten() {
	for r := range s.planes {
		p := &s.planes[r]
		if p.bend != tie {
			continue
		}
		best, a := s.pick[p.item], s.columns[p.a].lp
		cost := s.cost(int(p.item), p.a, s.vertex)
		lack := s.columns[best].lp - s.cost(int(p.item), best, s.vertex) - (a - cost)
		if lack > 1e-12*(math.Abs(a)+cost) {
			p.bend = flat
		}
	}
}

// untie computes the capacity left by the items that have no tie at the vertex.
func (s *Solver) untie() {
	copy(s.idle, s.capacity)
	for i, c := range s.pick {
		s.use(i, c, s.idle, -1)
	}
	for r := range s.planes {
		if s.leads(r) {
			i := s.planes[r].item
			s.use(int(i), s.pick[i], s.idle, 1)
		}
	}
}

// leads reports whether plane r is the first tie of its item.
func (s *Solver) leads(r int) bool {
	if s.planes[r].bend != tie {
		return false
	}
	for q := range r {
		if s.alike(q, r) {
			return false
		}
	}
	return true
}

// A candidate is an edge that leads down.
type candidate struct {
	plane int     // the one it leaves; of a tie, the first of the item
	falls int32   // the column of the item that falls behind; -1 if no tie
	slope float64 // of the bound
	rate  float64 // slope per value of all capacity that the prices move by
}

// steepest puts the edge that leads down most steeply into s.steep, and returns
// the plane it leaves and its slope; -1 if no edge leads down.
//
// The edges at a price's plane lead to both sides. An item tied between m + 1
// columns has m + 1 edges: on each, one of them falls behind the others. The
// bound is linear between edges, so if none leads down nothing does.
func (s *Solver) steepest() (leaves int, slope float64) {
	best := candidate{plane: -1, rate: -1e-9} // less is rounding
	for r := range s.planes {
		p := &s.planes[r]
		if p.bend == tie {
			s.tryTie(r, &best)
			continue
		}
		for _, sign := range [2]float64{1, -1} {
			if p.bend == floor && sign < 0 || p.bend == roof && sign > 0 {
				continue
			}
			clear(s.edge)
			s.turn(r, sign)
			s.try(r, -1, &best)
		}
	}
	if best.plane >= 0 && best.falls >= 0 {
		best.plane = s.isolate(best.plane, best.falls)
	}
	return best.plane, best.slope
}

// tryTie tries the edges of the item that plane r ties first.
func (s *Solver) tryTie(r int, best *candidate) {
	if !s.leads(r) {
		return
	}
	for q := r; q < s.k; q++ {
		if !s.alike(q, r) {
			continue
		}
		for _, c := range [2]int32{s.planes[q].a, s.planes[q].b} {
			clear(s.edge)
			for o := r; o < s.k; o++ {
				switch {
				case !s.alike(o, r):
				case s.planes[o].a == c: // dearer by the normal
					s.turn(o, 1)
				case s.planes[o].b == c:
					s.turn(o, -1)
				}
			}
			s.try(r, c, best)
		}
	}
}

// turn adds sign times the direction that leaves plane r alone to s.edge.
func (s *Solver) turn(r int, sign float64) {
	for k := range s.edge {
		s.edge[k] += sign * s.inverse[k*s.k+r]
	}
}

// try makes s.edge the best candidate if it is steeper.
func (s *Solver) try(r int, falls int32, best *candidate) {
	size := 0.0
	for k, b := range s.capacity {
		size += math.Abs(s.edge[k]) * b
	}
	if slope := s.slope(s.edge); slope < best.rate*size {
		*best = candidate{r, falls, slope, slope / size}
		copy(s.steep, s.edge)
	}
}

// isolate rewrites the ties of the item that plane r ties first, so that one
// alone has column c, and returns that one. The planes still meet where they
// met: if c = o and c = x, then o = x.
func (s *Solver) isolate(r int, c int32) (only int) {
	only = -1
	for q := r; q < s.k; q++ {
		p := &s.planes[q]
		if !s.alike(q, r) || p.a != c && p.b != c {
			continue
		}
		if p.b == c {
			p.a, p.b, p.at = p.b, p.a, -p.at
		}
		if only < 0 {
			only = q
			continue
		}
		p.a = s.planes[only].b
		p.at = s.columns[p.a].lp - s.columns[p.b].lp
	}
	return only
}

// alike reports whether planes q and r tie the same item.
func (s *Solver) alike(q, r int) bool {
	return s.planes[q].bend == tie && s.planes[q].item == s.planes[r].item
}

// slope returns how the bound changes from the vertex in direction d.
func (s *Solver) slope(d []float64) float64 {
	total := 0.0
	for k, free := range s.idle {
		total += free * d[k]
	}
	for r := range s.planes {
		if s.leads(r) {
			_, least := s.cheapest(r, d)
			total -= least
		}
	}
	return total
}

// cheapest returns the column that the item tied by plane r takes when the
// prices leave the vertex in direction d, and what it costs there.
func (s *Solver) cheapest(r int, d []float64) (column int32, cost float64) {
	cost = math.Inf(1)
	for _, p := range s.planes[r:] {
		if p.bend != tie || p.item != s.planes[r].item {
			continue
		}
		for _, c := range [2]int32{p.a, p.b} {
			if x := s.cost(int(p.item), c, d); x < cost {
				column, cost = c, x
			}
		}
	}
	return column, cost
}

// meet moves the vertex to where the planes meet. It reports false if they are
// not independent, which only rounding can cause.
func (s *Solver) meet() bool {
	clear(s.work)
	for r, p := range s.planes {
		normal := s.work[r*s.k : (r+1)*s.k]
		if p.k < 0 {
			s.use(int(p.item), p.a, normal, 1)
			s.use(int(p.item), p.b, normal, -1)
		} else {
			normal[p.k] = 1
		}
	}
	if !invert(s.work, s.inverse, s.k) {
		return false
	}
	for k := range s.vertex {
		x := 0.0
		for r, p := range s.planes {
			x += s.inverse[k*s.k+r] * p.at
		}
		s.vertex[k] = max(0, x)
	}
	return true
}

// invert writes the inverse of the n x n matrix a to inv and destroys a
// (Gauss-Jordan with row pivoting). It reports false if a is singular.
func invert(a, inv []float64, n int) bool {
	clear(inv)
	for i := range n {
		inv[i*n+i] = 1
	}
	for col := range n {
		pivot := col
		for r := col + 1; r < n; r++ {
			if math.Abs(a[r*n+col]) > math.Abs(a[pivot*n+col]) {
				pivot = r
			}
		}
		scale := a[pivot*n+col]
		if math.Abs(scale) < 1e-12 {
			return false
		}
		for j := range n {
			a[col*n+j], a[pivot*n+j] = a[pivot*n+j], a[col*n+j]
			inv[col*n+j], inv[pivot*n+j] = inv[pivot*n+j], inv[col*n+j]
		}
		for j := range n {
			a[col*n+j] /= scale
			inv[col*n+j] /= scale
		}
		for r := range n {
			f := a[r*n+col]
			if r == col || f == 0 {
				continue
			}
			for j := range n {
				a[r*n+j] -= f * a[col*n+j]
				inv[r*n+j] -= f * inv[col*n+j]
			}
		}
	}
	return true
}
