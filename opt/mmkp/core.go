package mmkp

import "math"

// The core of a multiple-choice knapsack (after D. Pisinger, "A minimal algorithm for the
// multiple-choice knapsack problem"): the few items whose best choice depends on the prices, within a range of prices
// for every resource. All other items take one choice in the whole range, and count as a sum.
//
// A scan fills a coreProblem, and Descend finds the prices in its ranges at which the upper bound
//
//	D(π) = Others + Σₖ Spareₖ πₖ + Σᵢ maxⱼ (vᵢⱼ − Σₖ πₖ aᵢⱼₖ)      over the core's items i
//
// is lowest. Each item's term is a maximum of linear functions, so D is convex and piecewise linear.
//
// Invariant: the walk is at a vertex, where as many independent planes meet as there are resources. A plane is a set
// of prices at which D may bend: two columns of an item are worth the same, or a price is at an end of its range. An
// edge leaves one plane and stays on the others. If no edge leads down, no direction does, by convexity, and the
// vertex is the minimum.
//
// Why it ends: each step goes to the lowest point of an edge that leads down, so D falls from vertex to vertex, and
// there are finitely many vertices. Nudged values make ties rare: without them more planes than resources may meet in
// a vertex, and a step may have length zero. If rounding makes planes dependent, the walk stops. The bound is valid
// at every price, so an early stop costs quality, never correctness. A limit of steps bounds the rest.
//
// Cost of a step: one pass over the core's columns, an inversion of a matrix with as many rows as resources, and a
// search along an edge.

// A coreProblem is the part of a knapsack that matters while resource prices stay within given ranges: items whose best
// choice differs between these prices. Descend finds the best prices in the ranges.
type coreProblem struct {
	K        int // number of resources, at least 1
	Capacity []float64
	Prices   []float64    // start of Descend, then the best found
	Ranges   []priceRange // range of the price of each resource
	Items    []coreItem
	Columns  []column
	Amounts  []Use     // of the columns that use several resources
	Spare    []float64 // capacity that the items outside the core leave
	Others   float64   // value of their columns
	descent
	line
}

// A priceRange is the interval of prices of one resource for which the core is valid. Below and Above are slightly wider,
// for values with a perturbation (see nudge).
type priceRange struct {
	Middle, Low, High float64
	Below, Above      float64
}

// A coreItem is an item whose best column may change within the ranges of prices. Its first column is "none".
type coreItem struct {
	Slot       int32 // in Program
	First, End int32 // in Columns
	Rank       uint32
	Must       bool
	Second     float64 // regret of the second best column
}

type column struct {
	Value      float64
	Nudged     float64 // for Descend: moved by at most a relative nudge, so that ties are rare
	Amount     float64
	Regret     float64 // worth below the item's best column, at the prices of the last Weigh
	Resource   int32   // or several
	ID         int32   // in the item's row; -1: none
	First, End int32   // in Amounts
}

const several = math.MaxInt32

// nudge limits the perturbation: values change by at most this relative amount, so that ties are rare.
const nudge = 1e-6

func (s *coreProblem) Cost(c *column, prices []float64) float64 {
	if c.Resource != several {
		return prices[c.Resource] * c.Amount
	}
	total := 0.0
	for _, u := range s.Amounts[c.First:c.End] {
		total += prices[u.Resource] * u.Amount
	}
	return total
}

// Use adds sign times the needs of column c to used, by resource. sign is 1 or -1.
func (s *coreProblem) Use(c *column, used []float64, sign float64) {
	if c.Resource != several {
		used[c.Resource] += sign * c.Amount
		return
	}
	for _, u := range s.Amounts[c.First:c.End] {
		used[u.Resource] += sign * u.Amount
	}
}

func (s *coreProblem) Uses(c *column, k int) float64 {
	switch {
	case c.Resource == several:
		return amountOf(s.Amounts[c.First:c.End], k)
	case int(c.Resource) == k:
		return c.Amount
	}
	return 0
}

// Idle returns what unused capacity is worth: the sum over resources of s.Prices times rest, the amount that is free.
func (s *coreProblem) Idle(rest []float64) float64 {
	total := 0.0
	for k, b := range rest {
		total += b * s.Prices[k]
	}
	return total
}

func (s *coreProblem) FitsInto(c *column, rest []float64) bool {
	if c.Resource != several {
		return c.Amount == 0 || c.Amount <= rest[c.Resource]
	}
	return fitAll(s.Amounts[c.First:c.End], rest)
}

func fitAll(uses []Use, rest []float64) bool {
	for _, u := range uses {
		if u.Amount > rest[u.Resource] {
			return false
		}
	}
	return true
}

func deduct(rest []float64, uses []Use) {
	for _, u := range uses {
		rest[u.Resource] -= u.Amount
	}
}

func amountOf(uses []Use, k int) float64 {
	for _, u := range uses {
		if u.Resource == k {
			return u.Amount
		}
	}
	return 0
}

// Weigh returns the upper bound on the total value at the given prices. It also sets each column's Regret: how much
// less the column is worth at these prices than its item's best one. value is the function given or nudged.
func (s *coreProblem) Weigh(prices []float64, value func(*column) float64) (bound float64) {
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

// Sharpen removes the effect of the perturbation: it computes the prices of the last vertex again from unperturbed
// values, and keeps them if they lower the bound.
func (s *coreProblem) Sharpen() {
	s.Bound = s.Weigh(s.Prices, given)
	for r := range s.planes {
		if e := &s.planes[r]; e.k < 0 {
			e.at = s.Columns[e.a].Value - s.Columns[e.b].Value
		}
	}
	if !s.meet() {
		return
	}
	for k, x := range s.vertex {
		if b := &s.Ranges[k]; x < b.Low*(1-nudge) || x > b.High*(1+nudge) {
			return
		}
	}
	if d := s.Weigh(s.vertex, given); d < s.Bound {
		s.Bound = d
		copy(s.Prices, s.vertex)
	}
}

func given(c *column) float64 { return c.Value }

func nudged(c *column) float64 { return c.Nudged }
