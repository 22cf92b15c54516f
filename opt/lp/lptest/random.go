package lptest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/lp"
)

type draw func(low, up int) int

func rapidly(t *rapid.T) draw {
	return func(low, up int) int { return rapid.IntRange(low, up).Draw(t, "n") }
}

func stream(name string) draw {
	r := rng.Stream(1, "lptest/"+name)
	return func(low, up int) int { return low + r.IntN(up-low+1) }
}

// pair adds random rows and columns with small integers, around an optimal point and multipliers, and returns the
// optimum. With boxed all bounds are finite.
func (b *builder) pair(d draw, rows, cols int, boxed bool) float64 {
	x, reduced := make([]float64, cols), make([]float64, cols)
	low, up := make([]float64, cols), make([]float64, cols)
	for j := range x {
		x[j] = float64(d(-3, 3))
		low[j], up[j], reduced[j] = around(d, x[j], boxed)
	}
	cost := append([]float64(nil), reduced...)
	entries := make([][]float64, cols)
	for i := range rows {
		activity := 0.0
		var here []int
		for j := range cols {
			if d(0, 9) < 4 {
				entries[j] = append(entries[j], float64(i), float64(d(-4, 4)))
				activity += entries[j][len(entries[j])-1] * x[j]
				here = append(here, j)
			}
		}
		rowLow, rowUp, y := around(d, activity, false)
		b.row(rowLow, rowUp)
		for _, j := range here {
			cost[j] += y * entries[j][len(entries[j])-1]
		}
	}
	best := 0.0
	for j := range x {
		b.col(cost[j], low[j], up[j], entries[j]...)
		best += cost[j] * x[j]
	}
	return best
}

func around(d draw, x float64, finite bool) (low, up, multiplier float64) {
	end := func(sign int) float64 {
		if !finite && d(0, 2) == 0 {
			return float64(sign) * inf
		}
		return x + float64(sign*d(1, 5))
	}
	switch d(0, 3) {
	case 0:
		return x, end(1), float64(d(0, 4))
	case 1:
		return end(-1), x, float64(-d(0, 4))
	case 2:
		return x, x, float64(d(-4, 4))
	default:
		return end(-1), end(1), 0
	}
}

func (s suite) random(t *rapid.T) {
	d := rapidly(t)
	b := &builder{t: t, p: &lp.Problem{}}
	best := b.pair(d, d(0, 10), d(0, 14), d(0, 1) == 0)
	s.optimal(t, b.p, solve(t, s.fresh(), b.p), best)
}

func (s suite) honest(t *rapid.T) {
	d := rapidly(t)
	b := &builder{t: t, p: &lp.Problem{}}
	boxed := d(0, 1) == 0
	b.pair(d, d(0, 8), d(1, 10), boxed)
	point := solve(t, s.fresh(), b.p)
	for _, c := range b.cols {
		if err := b.p.SetCost(c, float64(d(-5, 5))); err != nil {
			t.Fatalf("%v", err)
		}
	}
	out := solve(t, s.fresh(), b.p)
	consistent(t, b.p, out)
	value := lp.Objective(b.p, point.X)
	slack := 1e-6 + 100*s.tol.Primal*(1+math.Abs(value))
	if out.Status == lp.Infeasible || boxed && out.Status == lp.Unbounded {
		t.Fatalf("status %v, want a solution: point %v is feasible", out.Status, point.X)
	}
	if out.Bound > value+slack || out.Status == lp.Optimal && out.Objective > value+slack {
		t.Fatalf("objective %v and bound %v, want at most %v", out.Objective, out.Bound, value)
	}
	if out.Status == lp.Unbounded {
		s.none(t, b.p, out, lp.Unbounded)
	}
}
