package mmkp

import (
	"errors"
	"math"
	"slices"
)

// Large items. An item whose smallest choice takes much of a resource breaks the method of prices in two ways. The
// relaxation divides the item, although its parts are worth nothing, so the bound is far away. And the search
// moves few items at a time, although a large item pays only if many others leave.
//
// So if the gap stays above wideGap, the program is split on its largest item: one case without it, and one for
// each of its choices, with less capacity for the others. A case is split again while its gap is wide and it has
// large items. The result is the best solution of all cases. The largest bound of all cases is a bound, because an
// optimal solution belongs to one of them.
//
// Why it ends: every split removes an item. After maxSplits solves, an unsolved case keeps the bound of the
// program that was split.
const (
	wideGap   = 1e-3
	largePart = 0.25 // of a capacity: an item is large if each of its choices takes more
	maxSplits = 24
)

type splitting struct {
	*Program
	solves int // left
	value  float64
	fixed  []fixed // large items with a choice in the present case
	picks  []int32 // by slot: columns of the best solution
}

type fixed struct {
	slot   int
	column int32
}

// improveLarge splits the program on its large items if the solution is not good enough, and returns the best.
func (p *Program) improveLarge(sol *Solution) *Solution {
	s := &splitting{Program: p, solves: maxSplits, value: math.Inf(-1)}
	if sol.Status == Optimal || sol.Gap <= wideGap || p.call.opts.MaxNodes == 0 || s.largest() < 0 {
		return sol
	}
	prices, radius := slices.Clone(p.core.Prices), slices.Clone(p.pricing.radius)
	bound := s.divide(0, sol)
	for k, b := range p.given {
		p.core.Capacity[k] = b * (1 + slack) // undo rounding errors
	}
	copy(p.core.Prices, prices) // the next solve starts from the prices of the whole program
	p.pricing.radius = radius
	for i := range p.inv.items {
		p.inv.items[i].pick, p.inv.items[i].taken = s.picks[i], s.picks[i]
	}
	return s.result(max(bound, s.value), prices)
}

func (s *splitting) result(bound float64, prices []float64) *Solution {
	sol := &s.solution
	sol.Value, sol.Bound, sol.Status, sol.Gap = s.value, bound, Limited, 0
	sol.Prices = append(sol.Prices[:0], prices[:len(s.given)]...)
	if bound != s.value {
		sol.Gap = (bound - s.value) / math.Abs(bound)
	}
	switch {
	case sol.Gap <= s.call.opts.Gap:
		sol.Status = Optimal
	case s.call.ctx.Err() != nil:
		sol.Status = Interrupted
	}
	return sol
}

// divide returns a bound of the present program plus worth, the value of the fixed items, and records solutions. sol
// is the program's solution.
func (s *splitting) divide(worth float64, sol *Solution) float64 {
	s.note(worth, sol)
	bound := worth + sol.Bound
	slot := s.largest()
	if slot < 0 || s.solves <= 0 || bound-s.value <= wideGap*math.Abs(bound) || s.call.ctx.Err() != nil {
		return bound
	}
	x, r := &s.inv.items[slot], &s.inv.rows[slot]
	x.live = false
	cases := math.Inf(-1)
	for c := none; c < int32(len(r.points)+len(r.bundles)); c++ {
		cases = max(cases, s.solveCase(worth, bound, fixed{slot, c}))
	}
	x.live = true
	return min(bound, cases)
}

// solveCase returns a bound of the case f, in which the item has one column, or none: -Inf if it is infeasible, and
// the bound of the program that was split if it is not solved.
func (s *splitting) solveCase(worth, bound float64, f fixed) float64 {
	if f.column != none {
		value := s.inv.items[f.slot].worth(&s.inv.rows[f.slot], f.column)
		if value <= 0 { // the case without it is at least as good
			return math.Inf(-1)
		}
		worth += value
		defer s.withdraw(f, 1)
		if !s.withdraw(f, -1) {
			return math.Inf(-1)
		}
	}
	if s.solves--; s.solves < 0 {
		return bound
	}
	s.fixed = append(s.fixed, f)
	defer func() { s.fixed = s.fixed[:len(s.fixed)-1] }()
	sol, err := s.solveOnce()
	switch {
	case errors.Is(err, ErrInfeasible):
		return math.Inf(-1)
	case err != nil:
		return bound
	}
	return s.divide(worth, sol)
}

// withdraw subtracts a column's use from the capacities, or adds it with sign 1.
func (s *splitting) withdraw(f fixed, sign float64) (fits bool) {
	fits = true
	for _, u := range s.inv.rows[f.slot].columnUses(f.column) {
		k := u.Resource
		s.core.Capacity[k] += sign * u.Amount
		if s.core.Capacity[k] < 0 {
			fits = false
		}
	}
	s.inv.shrunk = true
	return fits
}

func (s *splitting) note(worth float64, sol *Solution) {
	if worth+sol.Value <= s.value {
		return
	}
	s.value = worth + sol.Value
	s.picks = s.picks[:0]
	for i := range s.inv.items {
		pick := none
		if s.inv.items[i].live {
			pick = s.inv.items[i].taken
		}
		s.picks = append(s.picks, pick)
	}
	for _, f := range s.fixed {
		s.picks[f.slot] = f.column
	}
}

func (s *splitting) largest() (slot int) {
	slot = -1
	most := largePart
	for i := range s.inv.items {
		if x := &s.inv.items[i]; !x.live || x.must || x.size <= 0 {
			continue
		}
		if part := s.leastPart(i); part > most {
			slot, most = i, part
		}
	}
	return slot
}

// leastPart returns the least part of a capacity that any choice of the item takes, each counted at its scarcest
// resource; 0 if no choice fits.
func (s *splitting) leastPart(i int) float64 {
	least := math.Inf(1)
	r := &s.inv.rows[i]
	for c := range int32(len(r.points) + len(r.bundles)) {
		part := 0.0
		for _, u := range r.columnUses(c) {
			part = max(part, u.Amount/s.core.Capacity[u.Resource])
		}
		if least = min(least, part); least <= largePart {
			break
		}
	}
	if math.IsInf(least, 1) || least > 1 {
		return 0
	}
	return least
}

func (r *row) columnUses(c int32) []Use {
	if c >= int32(len(r.points)) {
		return r.usesOf(c)
	}
	return []Use{{Resource: int(r.resource(c)), Amount: r.amount(c)}}
}
