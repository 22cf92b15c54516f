package mmkp

import (
	"context"
	"math"
)

// A plane is a set of prices at which the bound may bend: two columns of an item are worth the same there, or one
// price is fixed.
type plane struct {
	bend bend
	k    int // the price; -1: two columns are worth the same
	item int32
	a, b int32
	at   float64
}

type bend uint8

const (
	flat  bend = iota // no bend: a start price, or another column of the item is better
	tie               // the item changes between the columns
	floor             // the price is at the low end; the edge leads up only
	roof              // the price is at the high end; the edge leads down only
)

type descent struct {
	Bound   float64 // lowest so far, at Core.Prices
	Steps   int
	vertex  []float64
	planes  []plane
	inverse []float64 // of the planes' normals, k x k: column r leaves plane r and no other
	work    []float64 // the normals, while they are inverted
	edge    []float64 // a direction in price space
	steep   []float64
	pick    []int32   // column per item at the vertex
	idle    []float64 // capacity that the items without a tie leave
}

// Descend moves from vertex to vertex of the dual function, which bounds the total value from above, while a neighbour
// within s.Ranges is lower. It stores the best prices in s.Prices. It ends early when Steps reaches limit or ctx ends.
func (s *coreProblem) Descend(ctx context.Context, limit int) {
	s.prepare()
	s.Bound = math.Inf(1)
	for ; ; s.Steps++ {
		d, _ := s.evaluate(s.vertex, s.edge, s.pick)
		if d < s.Bound {
			s.Bound = d
			copy(s.Prices, s.vertex)
		}
		if s.Steps >= limit || ctx.Err() != nil {
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

func (s *coreProblem) prepare() {
	k, n := s.K, len(s.Items)
	s.vertex, s.idle = sized(s.vertex, k), sized(s.idle, k)
	s.edge, s.steep = sized(s.edge, k), sized(s.steep, k)
	s.inverse, s.work = sized(s.inverse, k*k), sized(s.work, k*k)
	s.planes, s.pick = sized(s.planes, k), sized(s.pick, n)
	s.left, s.right, s.middle = sized(s.left, n), sized(s.right, n), sized(s.middle, n)
	s.probe = sized(s.probe, k)
	for k, x := range s.Prices {
		// Not where the last walk ended: as many ties as resources may meet there, and with the start prices make
		// more planes than edges can handle.
		_, part := math.Modf(float64(k+1) * math.Phi)
		s.vertex[k] = x * (1 + nudge*part)
	}
	clear(s.inverse)
	for r := range k {
		s.planes[r] = plane{k: r, at: s.vertex[r]}
		if s.vertex[r] == 0 {
			s.planes[r].bend = floor
		}
		s.inverse[r*k+r] = 1
	}
}

// evaluate returns the bound at the given prices and its slope in direction d, and writes each item's best column to
// pick. At ties, the slope belongs to one subgradient.
func (s *coreProblem) evaluate(prices, d []float64, pick []int32) (bound, slope float64) {
	bound = s.Others
	for k, b := range s.Spare {
		bound += b * prices[k]
		slope += b * d[k]
	}
	for e := range s.Items {
		c, worth := s.take(e, prices)
		pick[e] = c
		bound += worth
		slope -= s.Cost(&s.Columns[c], d)
	}
	return bound, slope
}

func (s *coreProblem) take(e int, prices []float64) (taken int32, worth float64) {
	x := &s.Items[e]
	taken, worth = x.First, s.Columns[x.First].Nudged
	for c := x.First + 1; c < x.End; c++ {
		col := &s.Columns[c]
		if w := col.Nudged - s.Cost(col, prices); w > worth {
			taken, worth = c, w
		}
	}
	return taken, worth
}
