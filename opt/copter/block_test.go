package copter

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawn returns a knapsack that has a point, and numbers for its columns.
func drawn(r *rapid.T) (b knapsack, numbers []float64) {
	n := rapid.IntRange(1, 6).Draw(r, "columns")
	act := 0.0
	for range n {
		whole := func(low, up int) float64 { return float64(rapid.IntRange(low, up).Draw(r, "n")) }
		coef := whole(1, 4)
		if rapid.Bool().Draw(r, "negative") {
			coef = -coef
		}
		point := whole(-3, 3)
		low, up := point-whole(0, 2), point+whole(0, 2)
		switch rapid.IntRange(0, 4).Draw(r, "open") {
		case 0:
			low = math.Inf(-1)
		case 1:
			up = math.Inf(1)
		}
		b.coef, b.low, b.up = append(b.coef, coef), append(b.low, low), append(b.up, up)
		act += coef * point
		numbers = append(numbers, whole(-8, 8)/2)
	}
	b.rowLow, b.rowUp = act, act
	switch rapid.IntRange(0, 3).Draw(r, "sides") {
	case 0:
		b.rowLow = math.Inf(-1)
	case 1:
		b.rowUp = math.Inf(1)
	case 2:
		b.rowUp += 2
	}
	return b, numbers
}

// The conditions of optimality: x is the target moved along the row and cut to
// its bounds, the row is within its sides, and only a side that is met moves it.
func TestKnapsack_project_is_optimal(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b, target := drawn(r)
		x, give := make([]float64, len(target)), make([]float64, len(target))
		for c := range x {
			give[c] = float64(rapid.IntRange(1, 5).Draw(r, "give"))
			x[c] = clip(target[c], b.low[c], b.up[c])
		}
		mu, tight := b.project(x, target, give)
		act := 0.0
		for c, v := range x {
			act += b.coef[c] * v
			want := clip(target[c]+mu*b.coef[c]*give[c], b.low[c], b.up[c])
			if math.Abs(v-want) > 1e-9 {
				r.Fatalf("column %d: %v, want %v at multiplier %v", c, v, want, mu)
			}
		}
		if act < b.rowLow-1e-9 || act > b.rowUp+1e-9 {
			r.Fatalf("activity %v, want %v to %v", act, b.rowLow, b.rowUp)
		}
		if mu > 1e-9 && math.Abs(act-b.rowLow) > 1e-9 || mu < -1e-9 && math.Abs(act-b.rowUp) > 1e-9 || mu != 0 && !tight {
			r.Fatalf("multiplier %v, tight %v at activity %v of %v to %v", mu, tight, act, b.rowLow, b.rowUp)
		}
	})
}

// The dual of a linear program over a knapsack is concave and has its largest
// value at 0 or where a reduced cost is 0.
func TestKnapsack_dual_is_the_best_bound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b, cost := drawn(r)
		value := func(mu float64) float64 {
			total := 0.0
			if mu != 0 {
				total = mu * sideFor(mu, b.rowLow, b.rowUp, math.Copysign(math.Inf(1), -mu))
			}
			for c, v := range cost {
				if d := v - mu*b.coef[c]; math.Abs(d) > 1e-12 {
					total += d * sideFor(d, b.low[c], b.up[c], math.Copysign(math.Inf(1), -d))
				}
			}
			return total
		}
		best := value(0)
		for c, v := range cost {
			best = max(best, value(v/b.coef[c]))
		}
		mu, _ := b.dual(cost, nil)
		if mu < 0 && math.IsInf(b.rowUp, 1) || mu > 0 && math.IsInf(b.rowLow, -1) {
			r.Fatalf("multiplier %v, which no side of %v to %v holds", mu, b.rowLow, b.rowUp)
		}
		if got := value(mu); got < best-1e-9*(1+math.Abs(best)) {
			r.Fatalf("bound %v at multiplier %v, want %v", got, mu, best)
		}
	})
}
