// This file solves small linear programs by the interior point method of their self-dual embedding:
//
// 	minimise c'x  subject to  G x + s = h, s ≥ 0
//
// It replays ECOS and CVXOPT on programs with several optima; use opt/barrier and opt/exact for others. They
// return the first iterate within tolerance, so scaling, start and steps must be the same.
//
// ECOS is by Domahidi, Chu and Boyd (ECC 2013), CVXOPT by Vandenberghe (2010), the scaling by Ruiz
// (RAL-TR-2001-034).
//
// Dictionary: x, s, z, tau, kappa as in the papers; rx, rz, rt the residuals of the embedding's rows; lambda the
// scaled point; d = s/z the squares of its scaling.

package rules

import (
	"math"
	"slices"
)

// A Row is the constraint that the sum of Values times the columns Cols is at most Right. Columns are distinct.
type row struct {
	Cols   []int
	Values []float64
	Right  float64
}

// A Program is a linear program to minimise. Variables (columns) have no bounds of their own: write these as rows.
// Every column must have an entry in at least one row of fewer than Long (16) entries.
type program struct {
	Cost []float64
	Rows []row
}

// The limits of Solve. Source: ECOS.
const (
	tolerance      = 1e-8 // of relative residuals, and of the absolute or relative gap
	mostIterations = 100
)

// A Solution is the point at which Solve stopped.
type solution struct {
	X          []float64
	Duals      []float64 // multipliers of the rows
	Objective  float64
	Bound      float64 // lower bound on the optimum, if the duals are feasible
	Iterations int
	Converged  bool // otherwise infeasible, or out of iterations
}

// solve solves a linear program by the method of ECOS. It is deterministic and does not change p. An iteration costs
// the number of columns times the sum of squared lengths of the rows shorter than Long.
func solve(p *program) solution {
	it := newIterate(p)
	it.start()
	out := solution{}
	for out.Iterations = 0; out.Iterations < mostIterations; out.Iterations++ {
		it.residuals()
		if out.Converged = it.within(tolerance); out.Converged {
			break
		}
		it.save()
		if it.advance(); !it.finite() {
			it.restore()
			out.Converged = it.within(closeBy)
			break
		}
	}
	it.unscale(&out)
	return out
}

// closeBy are the tolerances when rounding stops progress. Source: ECOS, "close to optimal".
const closeBy = 1e-4

// equilibrations is the number of scalings. Source: ECOS.
const equilibrations = 3

// tiny bounds entries that are not scaled. Source: ECOS.
const tiny = 1e-6

// scale repeatedly divides rows and columns by the roots of their largest entries.
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

// start takes least squares, moved off 0. Source: CVXOPT §7.3.
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

// inside raises entries so that the least is 1, unless all are above 0.
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

func (t *iterate) unscale(out *solution) {
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

func (t *iterate) save() {
	t.saved = point{slices.Clone(t.x), slices.Clone(t.s), slices.Clone(t.z), t.tau, t.kappa}
}

func (t *iterate) restore() {
	t.point = t.saved
	t.residuals()
}

func (t *iterate) finite() bool {
	v := norm(t.x) + norm(t.s) + norm(t.z) + t.tau + t.kappa
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}
