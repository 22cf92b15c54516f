package rules

import (
	"math"
	"slices"
)

// A Row says that the products of Values and the columns Cols, each once, are at
// most Right in sum.
type Row struct {
	Cols   []int
	Values []float64
	Right  float64
}

// A Program is a linear program in columns without bounds: bounds are rows. Every
// column has an entry in some row that is not long (see Long).
type Program struct {
	Cost []float64
	Rows []Row
}

// Settings are the limits; the zero value of a field stands for its default.
type Settings struct {
	Feasible   float64 // largest residual, relatively; default 1e-8 (ECOS)
	Gap        float64 // largest gap, absolutely or relatively; default 1e-8 (ECOS)
	Iterations int     // default 100 (ECOS)
}

func (s Settings) withDefaults() Settings {
	if s.Feasible <= 0 {
		s.Feasible = 1e-8
	}
	if s.Gap <= 0 {
		s.Gap = 1e-8
	}
	if s.Iterations <= 0 {
		s.Iterations = 100
	}
	return s
}

// A Solution is where the iterates ended.
type Solution struct {
	X          []float64
	Duals      []float64 // of the rows
	Objective  float64
	Bound      float64 // that the duals prove, if their residual is 0
	Iterations int
	Converged  bool // within the tolerances; else the program has no solution, or the iterations ended
}

// Solve solves p. It modifies nothing and is deterministic. An iteration costs the
// columns times the squares of the rows' lengths, long rows apart.
func Solve(p *Program, o Settings) Solution {
	o = o.withDefaults()
	it := newIterate(p)
	it.start()
	out := Solution{}
	for out.Iterations = 0; out.Iterations < o.Iterations; out.Iterations++ {
		it.residuals()
		if out.Converged = it.within(o); out.Converged {
			break
		}
		it.keep()
		if it.advance(); !it.finite() {
			it.back()
			out.Converged = it.within(Settings{Feasible: closeBy, Gap: closeBy})
			break
		}
	}
	it.unscale(&out)
	return out
}

// closeBy are the tolerances of an iterate after which rounding ends all.
// Source: ECOS, "close to optimal".
const closeBy = 1e-4

// equilibrations is how often rows and columns are scaled. Source: ECOS.
const equilibrations = 3

// tiny is a largest entry that is not scaled. Source: ECOS.
const tiny = 1e-6

// scale divides rows and columns by the square roots of their largest entries, some
// times, and returns the products of those.
func (t *iterate) scale() {
	for range equilibrations {
		rows, cols := make([]float64, len(t.rows)), make([]float64, len(t.c))
		for i := range t.rows {
			for k, j := range t.rows[i].Cols {
				v := math.Abs(t.rows[i].Values[k])
				rows[i], cols[j] = math.Max(rows[i], v), math.Max(cols[j], v)
			}
		}
		root(rows)
		root(cols)
		for i := range t.rows {
			for k, j := range t.rows[i].Cols {
				t.rows[i].Values[k] /= rows[i] * cols[j]
			}
			t.rowUnit[i] *= rows[i]
		}
		for j := range cols {
			t.colUnit[j] *= cols[j]
		}
	}
	for i := range t.h {
		t.h[i] /= t.rowUnit[i]
	}
	for j := range t.c {
		t.c[j] /= t.colUnit[j]
	}
}

func root(v []float64) {
	for i := range v {
		if v[i] < tiny {
			v[i] = 1
		}
		v[i] = math.Sqrt(v[i])
	}
}

// start takes the least squares of the slacks, and of the duals, and moves them off
// 0. Source: CVXOPT §7.3.
func (t *iterate) start() {
	ones := make([]float64, len(t.h))
	for i := range ones {
		ones[i] = 1
	}
	t.system.factor(t.rows, ones)
	t.system.solve(t.rows, make([]float64, len(t.c)), t.h, t.x, t.s)
	for i := range t.s {
		t.s[i] = -t.s[i]
	}
	inside(t.s)
	minus := make([]float64, len(t.c))
	for j := range minus {
		minus[j] = -t.c[j]
	}
	t.system.solve(t.rows, minus, make([]float64, len(t.h)), make([]float64, len(t.c)), t.z)
	inside(t.z)
	t.tau, t.kappa = 1, 1
}

// inside adds the same to all entries so that the least is at least 1, if any is
// not above 0.
func inside(v []float64) {
	least := math.Inf(1)
	for _, x := range v {
		least = math.Min(least, x)
	}
	if least > 0 {
		return
	}
	for i := range v {
		v[i] += 1 - least
	}
}

// unscale writes the iterate in the program's units.
func (t *iterate) unscale(out *Solution) {
	out.X, out.Duals = make([]float64, len(t.x)), make([]float64, len(t.z))
	for j := range t.x {
		out.X[j] = t.x[j] / t.tau / t.colUnit[j]
	}
	for i := range t.z {
		out.Duals[i] = t.z[i] / t.tau / t.rowUnit[i]
	}
	out.Objective, out.Bound = dot(t.c, t.x)/t.tau, -dot(t.h, t.z)/t.tau
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

// keep keeps the iterate.
func (t *iterate) keep() {
	t.kept = point{slices.Clone(t.x), slices.Clone(t.s), slices.Clone(t.z), t.tau, t.kappa}
}

// back returns to the iterate that was kept.
func (t *iterate) back() {
	t.point = t.kept
	t.residuals()
}

// finite reports whether the iterate is numbers.
func (t *iterate) finite() bool {
	v := norm(t.x) + norm(t.s) + norm(t.z) + t.tau + t.kappa
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}
