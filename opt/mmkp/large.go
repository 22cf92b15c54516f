package mmkp

import (
	"context"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp/internal/core"
)

// Large items. An item whose smallest choice takes much of a resource breaks the method of prices in two ways. The
// relaxation divides the item, although its parts are worth nothing, so the bound is far away. And the search moves
// few items at a time, although a large item pays only if many others leave at once.
//
// So if the gap of a solution stays above wideGap, the program is split on its largest item: one case without it, and
// one for each of its choices, which then leaves less for the others. Each case is a program without this item. A
// case is split again while its gap is wide and it has large items. The best solution of all cases is the result. The
// largest bound of all cases is a bound, because an optimal solution belongs to one of the cases.
//
// Why it ends: every split removes an item. After maxSplits solves, a case that is not solved keeps the bound of the
// program that was split.
const (
	wideGap   = 1e-3
	largePart = 0.25 // of a capacity: an item is large if each of its choices takes more
	maxSplits = 24
)

// splitting is the state of a solve that splits large items.
type splitting struct {
	budget int
	value  float64
	fixed  []fixed // large items with a choice in the present case
	picks  []int32 // by slot: columns of the best solution
	status Status
}

type fixed struct {
	slot   int
	column int32
}

// improveLarge splits the program on its large items if the solution is not good enough, and returns the best.
func (p *Program) improveLarge(ctx context.Context, opts Options, sol *Solution) (*Solution, error) {
	if sol.Status == Optimal || sol.Gap <= wideGap || opts.MaxNodes == 0 || p.largest() < 0 {
		return sol, nil
	}
	prices, radius := slices.Clone(p.core.Prices), slices.Clone(p.radius)
	s := &splitting{budget: maxSplits, value: math.Inf(-1)}
	bound := min(sol.Bound, p.divide(ctx, opts, s, 0, sol, nil))
	for k, b := range p.given {
		p.core.Capacity[k] = b * (1 + slack) // undo rounding errors
	}
	copy(p.core.Prices, prices) // the next solve starts from the prices of the whole program
	p.radius = radius
	for i := range p.items {
		p.items[i].pick, p.items[i].taken = s.picks[i], s.picks[i]
	}
	sol = &p.solution
	sol.Value, sol.Bound, sol.Status = s.value, max(bound, s.value), s.status
	sol.Prices = append(sol.Prices[:0], prices[:len(p.given)]...)
	sol.Gap = 0
	if sol.Bound != sol.Value {
		sol.Gap = (sol.Bound - sol.Value) / math.Abs(sol.Bound)
	}
	return sol, nil
}

// divide returns a bound of the present program plus worth, the value of the fixed items, and records solutions. sol
// is the program's solution; with err there is none.
func (p *Program) divide(ctx context.Context, opts Options, s *splitting, worth float64, sol *Solution, err error) float64 {
	if err != nil {
		return math.Inf(-1)
	}
	p.note(s, worth, sol)
	bound := worth + sol.Bound
	slot := p.largest()
	if slot < 0 || s.budget <= 0 || bound-s.value <= wideGap*math.Abs(bound) || ctx.Err() != nil {
		return bound
	}
	x, r := &p.items[slot], &p.rows[slot]
	x.live = false
	cases := math.Inf(-1)
	for c := none; c < int32(len(r.points)+len(r.bundles)); c++ {
		cases = max(cases, p.solveCase(ctx, opts, s, worth, bound, fixed{slot, c}))
	}
	x.live = true
	return min(bound, cases)
}

// solveCase returns a bound of the case f, in which the item has one column, or none.
func (p *Program) solveCase(ctx context.Context, opts Options, s *splitting, worth, bound float64, f fixed) float64 {
	if f.column != none {
		x, r := &p.items[f.slot], &p.rows[f.slot]
		value := x.worth(r, f.column)
		if value <= 0 {
			return math.Inf(-1)
		}
		worth += value
		if !p.withdraw(f, -1) {
			p.withdraw(f, 1)
			return math.Inf(-1)
		}
		defer p.withdraw(f, 1)
	}
	if s.budget--; s.budget < 0 {
		return bound
	}
	s.fixed = append(s.fixed, f)
	defer func() { s.fixed = s.fixed[:len(s.fixed)-1] }()
	sol, err := p.solveOnce(ctx, opts)
	return p.divide(ctx, opts, s, worth, sol, err)
}

// withdraw subtracts a column's use from the capacities, or adds it with sign 1. It reports whether it fits.
func (p *Program) withdraw(f fixed, sign float64) (fits bool) {
	fits = true
	for _, u := range p.rows[f.slot].columnUses(f.column) {
		k := u.Resource
		p.core.Capacity[k] += sign * u.Amount
		if p.core.Capacity[k] < 0 {
			fits = false
		}
	}
	p.shrunk = true
	return fits
}

func (p *Program) note(s *splitting, worth float64, sol *Solution) {
	if worth+sol.Value <= s.value {
		return
	}
	s.value, s.status = worth+sol.Value, sol.Status
	s.picks = s.picks[:0]
	for i := range p.items {
		pick := none
		if p.items[i].live {
			pick = p.items[i].taken
		}
		s.picks = append(s.picks, pick)
	}
	for _, f := range s.fixed {
		s.picks[f.slot] = f.column
	}
}

// largest returns the slot of the large item that takes the largest part of a resource; -1 if there is none.
func (p *Program) largest() (slot int) {
	slot = -1
	most := largePart
	for i := range p.items {
		if x := &p.items[i]; !x.live || x.must || x.size <= 0 {
			continue
		}
		if part := p.leastPart(i); part > most {
			slot, most = i, part
		}
	}
	return slot
}

// leastPart returns the least part of a capacity that any choice of the item takes, each counted at its scarcest
// resource; 0 if no choice fits.
func (p *Program) leastPart(i int) float64 {
	least := math.Inf(1)
	r := &p.rows[i]
	for c := range int32(len(r.points) + len(r.bundles)) {
		part := 0.0
		for _, u := range r.columnUses(c) {
			part = max(part, u.Amount/p.core.Capacity[u.Resource])
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

func (r *row) columnUses(c int32) []core.Use {
	if c >= int32(len(r.points)) {
		return r.usesOf(c)
	}
	return []core.Use{{Resource: int(r.resource(c)), Amount: r.amount(c)}}
}
