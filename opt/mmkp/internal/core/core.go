// Package core is the core of a multiple-choice knapsack (after D. Pisinger, "A minimal
// algorithm for the multiple-choice knapsack problem"): the few items whose best choice
// depends on which prices are right, between a lowest and a highest price of every
// resource. All other items take one choice in the whole range, and count as a sum.
//
// Package mmkp fills a Core, and Descend finds the prices in its ranges at which the
// upper bound
//
//	D(π) = Others + Σₖ Spareₖ πₖ + Σᵢ maxⱼ (vᵢⱼ − Σₖ πₖ aᵢⱼₖ)      over the core's items i
//
// is lowest. D is a maximum of linear functions in every item, so it is convex and
// piecewise linear.
//
// Invariant: the walk is at a vertex, where as many independent planes meet as there are
// resources. A plane is a set of prices at which D may bend: two columns of an item are
// worth the same, or a price is at an end of its range. Leaving one plane and staying on
// the others is an edge. If no edge leads down, convexity says that no direction does,
// and the vertex is the minimum.
//
// Why it ends: each step goes to the lowest point of an edge that leads down, so D falls
// from vertex to vertex, and there are finitely many vertices. Nudged values make ties
// rare: without them more planes than resources may meet in a vertex, and a step may have
// length zero. Where rounding makes planes dependent the walk stops; the bound is valid at
// every price, so stopping early costs quality and never correctness. A limit of steps
// bounds the rest.
//
// What it costs: a step is one pass over the core's columns, an inversion of a matrix of
// as many rows as resources, and a search along an edge that looks at fewer items each
// time. One file each:
//
//	core.go     items, columns, what they use and cost; regrets
//	descend.go  the walk
//	vertex.go   where the planes meet
//	edges.go    which edge leads down most steeply
//	line.go     how far along it
package core

import "math"

// A Core is a knapsack between two prices of every resource, and the walk over its bound.
// Its slices are filled by package mmkp.
type Core struct {
	K        int       // resources, at least 1
	Capacity []float64 // by resource
	Prices   []float64 // where Descend starts, and the best that it found
	Ranges   []Range   // of prices, by resource
	Items    []Item
	Columns  []Column
	Amounts  []Use     // of the columns that use several resources
	Spare    []float64 // capacity that the items outside the core leave
	Others   float64   // value of their columns
	descent
	line
}

// A Use is an amount of one resource.
type Use struct {
	Resource int
	Amount   float64
}

// A Range is the prices of one resource between which the core is right. Below and Above
// are a little farther apart, so that nudged values do not lead out.
type Range struct {
	Middle, Low, High float64
	Below, Above      float64
}

// An Item may change its column within the ranges. Its first column is "none".
type Item struct {
	Slot       int32 // in mmkp.Program
	First, End int32 // in Columns
	Rank       uint32
	Must       bool
	Second     float64 // regret of the second best column
}

// A Column is a choice of an item.
type Column struct {
	Value      float64 // what it is worth
	Nudged     float64 // what Descend sees: moved by a relative Nudge at most, so that ties are rare
	Amount     float64
	Regret     float64 // what it lacks, at the prices of the last Weigh, of its item's best
	Resource   int32   // or Several
	ID         int32   // in the item's row; -1: none
	First, End int32   // in Amounts
}

// Several is the resource of a column that uses more than one.
const Several = math.MaxInt32

// Nudge is the relative amount by which values are moved, at most.
const Nudge = 1e-6

// Cost returns what column c costs at the given prices.
func (s *Core) Cost(c *Column, prices []float64) float64 {
	if c.Resource != Several {
		return prices[c.Resource] * c.Amount
	}
	total := 0.0
	for _, u := range s.Amounts[c.First:c.End] {
		total += prices[u.Resource] * u.Amount
	}
	return total
}

// Use adds sign times what column c uses to used.
func (s *Core) Use(c *Column, used []float64, sign float64) {
	if c.Resource != Several {
		used[c.Resource] += sign * c.Amount
		return
	}
	for _, u := range s.Amounts[c.First:c.End] {
		used[u.Resource] += sign * u.Amount
	}
}

// Uses returns what column c uses of resource k.
func (s *Core) Uses(c *Column, k int) float64 {
	switch {
	case c.Resource == Several:
		return AmountOf(s.Amounts[c.First:c.End], k)
	case int(c.Resource) == k:
		return c.Amount
	}
	return 0
}

// FitsInto reports whether column c fits into rest.
func (s *Core) FitsInto(c *Column, rest []float64) bool {
	if c.Resource != Several {
		return c.Amount == 0 || c.Amount <= rest[c.Resource]
	}
	return Fits(s.Amounts[c.First:c.End], rest)
}

// Fits reports whether the uses fit into rest.
func Fits(uses []Use, rest []float64) bool {
	for _, u := range uses {
		if u.Amount > rest[u.Resource] {
			return false
		}
	}
	return true
}

// Deduct subtracts the uses from rest.
func Deduct(rest []float64, uses []Use) {
	for _, u := range uses {
		rest[u.Resource] -= u.Amount
	}
}

// AmountOf returns the amount of resource k among uses.
func AmountOf(uses []Use, k int) float64 {
	for _, u := range uses {
		if u.Resource == k {
			return u.Amount
		}
	}
	return 0
}

// Weigh fills the regrets at the prices and returns the bound.
func (s *Core) Weigh(prices []float64, value func(*Column) float64) (bound float64) {
	bound = s.Others
	for k, b := range s.Spare {
		bound += b * prices[k]
	}
	for i := range s.Items {
		e := &s.Items[i]
		best := math.Inf(-1)
		for c := e.First; c < e.End; c++ {
			col := &s.Columns[c]
			col.Regret = value(col) - s.Cost(col, prices)
			best = max(best, col.Regret)
		}
		for c := e.First; c < e.End; c++ {
			s.Columns[c].Regret = best - s.Columns[c].Regret
		}
		bound += best
	}
	return bound
}

// Sharpen takes the nudges back: it moves the last vertex to where its planes
// meet for the values as given, and takes these prices if their bound is lower.
func (s *Core) Sharpen() {
	s.Bound = s.Weigh(s.Prices, Given)
	for r := range s.planes {
		if e := &s.planes[r]; e.k < 0 {
			e.at = s.Columns[e.a].Value - s.Columns[e.b].Value
		}
	}
	if !s.meet() {
		return
	}
	for k, x := range s.vertex {
		if b := &s.Ranges[k]; x < b.Low*(1-Nudge) || x > b.High*(1+Nudge) {
			return
		}
	}
	if d := s.Weigh(s.vertex, Given); d < s.Bound {
		s.Bound = d
		copy(s.Prices, s.vertex)
	}
}

// Given returns a column's value as given, for Weigh.
func Given(c *Column) float64 { return c.Value }

// Nudged returns a column's value as Descend sees it, for Weigh.
func Nudged(c *Column) float64 { return c.Nudged }
