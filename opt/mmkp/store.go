package mmkp

import (
	"math"
	"slices"
)

const none int32 = -1

type point struct {
	value  float64
	amount float32 // if the row has no wide amounts
	choice int32   // its index; ^index if it is no corner of the hull
}

func (q *point) corner() bool { return q.choice >= 0 }

func (q *point) index() int32 { return max(q.choice, ^q.choice) }

// A run is the points of one resource, by amount. No point dominates another, except the one that Item.Keep names.
type run struct {
	first, end int32
	live       int32 // end of the points that fit into the empty resource
	resource   int32
}

type bundle struct {
	value      float64
	choice     int32
	first, end int32
	fits       bool // into the empty resources
}

// A row is the stored choices of an item. A column is a position in points or, after them, in bundles.
type row struct {
	points  []point
	wide    []float64 // amounts, if one is no float32
	runs    []run
	bundles []bundle
	uses    []Use
	least   []Use // if it must be served: least use of any choice
	choices int
	ordered bool    // points are by index
	low     float64 // lowest value, if it must be served
	high    float64
}

func (r *row) amount(c int32) float64 {
	if len(r.wide) > 0 {
		return r.wide[c]
	}
	return float64(r.points[c].amount)
}

func (r *row) find(choice int) int32 {
	if r.ordered {
		c, ok := slices.BinarySearchFunc(r.points, choice, func(q point, j int) int { return int(q.index()) - j })
		if ok {
			return int32(c)
		}
	} else if c := slices.IndexFunc(r.points, func(q point) bool { return int(q.index()) == choice }); c >= 0 {
		return int32(c)
	}
	if c := slices.IndexFunc(r.bundles, func(b bundle) bool { return int(b.choice) == choice }); c >= 0 {
		return int32(len(r.points) + c)
	}
	return none
}

func (r *row) choice(c int32) int {
	switch n := int32(len(r.points)); {
	case c == none:
		return -1
	case c < n:
		return int(r.points[c].index())
	default:
		return int(r.bundles[c-n].choice)
	}
}

func (r *row) value(c int32) float64 {
	if n := int32(len(r.points)); c >= n {
		return r.bundles[c-n].value
	}
	return r.points[c].value
}

func (r *row) fitting(u *run, capacity float64) int32 {
	c := u.end
	for c > u.first && r.amount(c-1) > capacity {
		c--
	}
	return c
}

// hull marks and returns the corners of a run's points that fit into the capacity. stack is its memory.
func (r *row) hull(u *run, capacity float64, stack []int32) []int32 {
	u.live = r.fitting(u, capacity)
	stack = stack[:0]
	var top, wide, low, start float64 // value and amount of the last corner and the one before it
	for c := u.first; c < u.end; c++ {
		q := &r.points[c]
		q.choice = ^q.index()
		value, amount := q.value, r.amount(c)
		if c >= u.live || len(stack) > 0 && value <= top {
			continue
		}
		// Drop the last corner unless it is above the line to this point.
		for len(stack) > 1 && (top-low)*(amount-start) <= (value-low)*(wide-start) {
			stack = r.uncorner(stack)
			top, wide = low, start
			if n := len(stack); n > 1 {
				low, start = r.points[stack[n-2]].value, r.amount(stack[n-2])
			}
		}
		if len(stack) == 1 && wide >= amount {
			stack = r.uncorner(stack)
		}
		q.choice = ^q.choice
		stack = append(stack, c)
		low, start, top, wide = top, wide, value, amount
	}
	return stack
}

func (r *row) uncorner(stack []int32) []int32 {
	last := len(stack) - 1
	r.points[stack[last]].choice = ^r.points[stack[last]].choice
	return stack[:last]
}

func (r *row) resource(c int32) int32 {
	for i := range r.runs {
		if c < r.runs[i].end {
			return r.runs[i].resource
		}
	}
	return several
}

func (r *row) empty() {
	r.points, r.runs, r.bundles, r.uses, r.least = r.points[:0], r.runs[:0], r.bundles[:0], r.uses[:0], r.least[:0]
	r.wide, r.choices = r.wide[:0], 0
}

func (r *row) next(u *run, c int32) int32 {
	c++
	for c < u.live && !r.points[c].corner() {
		c++
	}
	return c
}

func (r *row) previous(u *run, c int32) int32 {
	c--
	for c >= u.first && !r.points[c].corner() {
		c--
	}
	return c
}

func (r *row) slope(a, b int32) float64 {
	return (r.points[b].value - r.points[a].value) / (r.amount(b) - r.amount(a))
}

func (r *row) moveTo(u *run, g *group, c int32) {
	g.at, g.value, g.amount = c, r.points[c].value, r.amount(c)
	g.low, g.high = math.Inf(-1), math.Inf(1)
	if up := r.next(u, c); up < u.live {
		g.low = r.slope(c, up)
	}
	if down := r.previous(u, c); down >= u.first {
		g.high = r.slope(down, c)
	}
}

// settle moves g to the best corner at the price, step by step.
func (r *row) settle(u *run, g *group, price float64) {
	for price < g.low {
		r.moveTo(u, g, r.next(u, g.at))
	}
	for price > g.high {
		r.moveTo(u, g, r.previous(u, g.at))
	}
}
