package copter

import (
	"context"
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

type suspicion struct{ infeasible, unbounded bool }

type watch struct {
	primal float64
	passes int
	least  float64
	asked  suspicion // looked for already
}

func (t *watch) stalled(got pass, far bool) suspicion {
	t.passes++
	stuck := t.passes > 2 && got.violation > t.primal && got.violation > 0.5*t.least
	if t.passes == 1 || got.violation < t.least {
		t.least = max(got.violation, t.primal)
	}
	d := suspicion{infeasible: stuck && !t.asked.infeasible, unbounded: far && !t.asked.unbounded}
	t.asked.infeasible = t.asked.infeasible || d.infeasible
	t.asked.unbounded = t.asked.unbounded || d.unbounded
	return d
}

func (s *Solver) far() bool {
	w := &s.work
	for c, x := range w.center {
		if math.Abs(x) > 1e6*w.size[c] {
			return true
		}
	}
	return false
}

func (s *Solver) certificate(ctx context.Context, p *lp.Problem, d suspicion) *lp.Solution {
	if s.nested {
		return nil
	}
	if d.infeasible || d.unbounded {
		if ray := s.farkas(ctx, p); ray != nil {
			return s.proven(p, lp.Infeasible, ray)
		}
	}
	if d.unbounded {
		if ray := s.recession(ctx, p); ray != nil {
			return s.proven(p, lp.Unbounded, ray)
		}
	}
	return nil
}

func (s *Solver) proven(p *lp.Problem, status lp.Status, ray []float64) *lp.Solution {
	out := s.finish(p, status)
	out.Ray = ray
	return out
}

// farkas returns row multipliers that prove p infeasible, or nil: the duals of the least sum of row
// violations.
func (s *Solver) farkas(ctx context.Context, p *lp.Problem) []float64 {
	least := &lp.Problem{}
	rows := make([]lp.Row, p.RowSlots())
	for i := range rows {
		low, up := p.Sides(i)
		rows[i] = must(least.AddRow(low, up))
		if low > math.Inf(-1) {
			must(least.AddCol(1, 0, lp.Inf, lp.RowEntry{Row: rows[i], Value: 1}))
		}
		if up < math.Inf(1) {
			must(least.AddCol(1, 0, lp.Inf, lp.RowEntry{Row: rows[i], Value: -1}))
		}
	}
	for j := range p.ColSlots() {
		if p.HasCol(j) {
			must(least.AddCol(0, p.Lows()[j], p.Ups()[j], entries(p, j, rows)...))
		}
	}
	out := s.nest(ctx, least)
	if out.Objective <= 0 {
		return nil
	}
	size := 0.0
	for _, v := range out.Y {
		size = max(size, math.Abs(v))
	}
	ray := make([]float64, p.RowSlots())
	for i, r := range rows {
		if v := out.Y[r.Index()]; math.Abs(v) > 1e-12*size {
			ray[i] = v
		}
	}
	if !lp.CheckInfeasible(p, ray) {
		return nil
	}
	return ray
}

func (s *Solver) recession(ctx context.Context, p *lp.Problem) []float64 {
	steepest := &lp.Problem{}
	rows := make([]lp.Row, p.RowSlots())
	cone := func(low, up, far float64) (newLow, newUp float64) {
		newLow, newUp = -far, far
		if low > math.Inf(-1) {
			newLow = 0
		}
		if up < math.Inf(1) {
			newUp = 0
		}
		return newLow, newUp
	}
	for i := range rows {
		low, up := p.Sides(i)
		rows[i] = must(steepest.AddRow(cone(low, up, lp.Inf)))
	}
	cols := make([]lp.Col, p.ColSlots())
	for j := range cols {
		if p.HasCol(j) {
			low, up := cone(p.Lows()[j], p.Ups()[j], 1)
			cols[j] = must(steepest.AddCol(p.Costs()[j], low, up, entries(p, j, rows)...))
		}
	}
	out := s.nest(ctx, steepest)
	ray := make([]float64, p.ColSlots())
	for j, c := range cols {
		if v := out.X[c.Index()]; p.HasCol(j) && math.Abs(v) > 1e-12 {
			ray[j] = v
		}
	}
	if !lp.CheckUnbounded(p, ray) {
		return nil
	}
	return ray
}

func (s *Solver) nest(ctx context.Context, p *lp.Problem) *lp.Solution {
	o := s.opts
	o.Primal, o.Dual, o.Gap, o.Polish = 1e-11, 1e-11, 1e-9, false
	inner := &Solver{opts: o, nested: true}
	out, _ := inner.Solve(ctx, p) // never an error
	return out
}

func entries(p *lp.Problem, j int, rows []lp.Row) []lp.RowEntry {
	index, values := p.Entries(j)
	all := make([]lp.RowEntry, len(index))
	for e, q := range index {
		all[e] = lp.RowEntry{Row: rows[q], Value: values[e]}
	}
	return all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
