package copter

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/lp"
)

func (s *Solver) finish(p *lp.Problem, status lp.Status) *lp.Solution {
	x := append([]float64(nil), s.x...)
	s.repair(p, x)
	if s.opts.Polish {
		s.polish(p, x)
	}
	out := &lp.Solution{
		Status: status, X: x, Y: append([]float64(nil), s.bestY...), Objective: lp.Objective(p, x),
		Bound: s.best.bound, DualResidual: s.best.dual, Iterations: s.iterations, Sweeps: s.sweeps,
	}
	out.PrimalResidual = lp.PrimalResidual(p, x)
	if p.Nonzeros() <= sample || math.IsInf(out.Bound, -1) {
		b, last := lp.Bound(p, out.Y), lp.Bound(p, s.y)
		exact := leastSlip * (1 + math.Abs(out.Objective))
		if s.last.slip <= exact && (last > b || s.best.slip > exact) {
			copy(out.Y, s.y)
			b = last
		}
		out.Bound = max(s.best.bound, b)
		out.DualResidual = lp.DualResidual(p, out.Y)
	}
	if math.IsNaN(out.Bound) {
		out.Bound = math.Inf(-1)
	}
	out.Gap = relativeGap(out.Objective, out.Bound)
	return out
}

type cut struct {
	col  int32
	coef float64
	loss float64 // value of a unit of the row to the column
}

// repair lowers rows above their upper side, by the least valuable columns first, if that hurts no other row (see
// packed).
func (s *Solver) repair(p *lp.Problem, x []float64) {
	act := lp.Activities(p, x)
	full := make([]bool, len(act))
	for i, a := range act {
		_, up := p.Sides(i)
		full[i] = a > up
	}
	if !slices.Contains(full, true) {
		return
	}
	cuts := make([][]cut, len(act))
	for j, v := range x {
		if v <= 0 || !packed(p, j) {
			continue
		}
		rows, values := p.Entries(j)
		loss := -p.Costs()[j]
		for e, q := range rows {
			loss += values[e] * s.lambda[q]
		}
		for e, q := range rows {
			if full[q] {
				cuts[q] = append(cuts[q], cut{int32(j), values[e], loss / values[e]})
			}
		}
	}
	f := &filling{p, x, act}
	for i, from := range cuts {
		f.empty(i, from)
	}
	f.fill()
}

type filling struct {
	p      *lp.Problem
	x, act []float64
}

func (f *filling) empty(i int, from []cut) {
	p, x, act := f.p, f.x, f.act
	slices.SortFunc(from, func(a, b cut) int {
		return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.col, b.col))
	})
	_, up := p.Sides(i)
	for _, c := range from {
		excess := act[i] - up
		if excess <= 0 {
			return
		}
		less := min(x[c.col]-p.Lows()[c.col], excess/c.coef*(1+1e-15))
		f.shift(int(c.col), -less)
	}
}

func (f *filling) fill() {
	p, x, act := f.p, f.x, f.act
	for j, v := range x {
		if v <= 0 || p.Costs()[j] >= 0 || !packed(p, j) {
			continue
		}
		room := p.Ups()[j] - v
		rows, values := p.Entries(j)
		for e, q := range rows {
			_, up := p.Sides(int(q))
			room = min(room, (up-act[q])/values[e])
		}
		if room > 0 && !math.IsInf(room, 1) {
			f.shift(j, room)
		}
	}
}

func (f *filling) shift(j int, by float64) {
	p, x := f.p, f.x
	v := clip(x[j]+by, p.Lows()[j], p.Ups()[j])
	rows, values := p.Entries(j)
	for e, q := range rows {
		f.act[q] += values[e] * (v - x[j])
	}
	x[j] = v
}

// packed reports whether lowering column j hurts no row: nothing is below 0, and no row has a lower side.
func packed(p *lp.Problem, j int) bool {
	if p.Lows()[j] < 0 {
		return false
	}
	rows, values := p.Entries(j)
	for e, q := range rows {
		low, _ := p.Sides(int(q))
		if values[e] < 0 || !math.IsInf(low, -1) {
			return false
		}
	}
	return true
}
