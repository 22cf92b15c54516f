package estimate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The derivatives agree with central differences of the values.
func TestDerive_agrees_with_differences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		obs, truth := synthetic(t, 0.5)
		const smoothing = 1e-2
		var f fitter
		f.load(obs)
		n := len(obs)
		x := toVector(&truth)
		x[gamma] = max(x[gamma], 1.01)
		at := func(x vector) (state, quadratic) {
			s := state{x: x, terms: f.terms[:n]}
			evaluate(f.points, smoothing, &s)
			for i := range f.duals {
				f.duals[i] = dual{s.terms[i].u / s.rmsU, s.terms[i].v / s.rmsV}
			}
			var m quadratic
			derive(f.points, &s, f.duals, &m)
			return s, m
		}
		_, m := at(x)
		for i := range dims {
			h := 1e-5 * x[i]
			up, down := x, x
			up[i] += h
			down[i] -= h
			su, mu := at(up)
			sd, md := at(down)
			// All in units of relative changes, so that one tolerance does.
			near(t, "gradient", m.grad[i]*x[i], (su.value-sd.value)/(2*h)*x[i])
			for j := range i + 1 {
				near(t, "Hessian", m.hess[i][j]*x[i]*x[j], (mu.grad[j]-md.grad[j])/(2*h)*x[i]*x[j])
			}
		}
	})
}

func near(t *rapid.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
		t.Fatalf("%s: %g, differences give %g", what, got, want)
	}
}

// solve returns the minimum of a quadratic whose other variables are given.
func TestSolve_leaves_no_force(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Float64Range(-1, 1)
		var m quadratic
		var root matrix
		var d vector
		var free [dims]bool
		for i := range dims {
			m.grad[i], m.scale[i] = entry.Draw(t, "grad"), 1
			if free[i] = rapid.Bool().Draw(t, "free"); !free[i] {
				d[i] = entry.Draw(t, "given")
			}
			for j := range i + 1 {
				root[i][j] = entry.Draw(t, "root")
			}
		}
		for i := range dims {
			for j := range i + 1 {
				for k := range dims {
					m.hess[i][j] += root[i][k] * root[j][k]
				}
			}
			m.hess[i][i] += 0.1
		}
		if !m.solve(0.5, &free, &d) {
			t.Fatal("a positive definite matrix was refused")
		}
		for i := range dims {
			force := m.grad[i] + 0.5*d[i]
			for j := range dims {
				force += m.hess[max(i, j)][min(i, j)] * d[j]
			}
			if free[i] && math.Abs(force) > 1e-9 {
				t.Errorf("force %g on variable %d", force, i)
			}
		}
		m.hess[0][0], free[0] = -1, true
		if m.solve(0.5, &free, &d) {
			t.Error("a matrix with a negative diagonal was taken")
		}
	})
}
