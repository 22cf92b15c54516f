package estimate

import (
	"math"

	"github.com/oxgang/oxgang/model/perf"
)

type box struct{ low, high vector }

func (b *box) pin(i int, value float64) { b.low[i], b.high[i] = value, value }

func (b *box) pinned(i int) bool { return b.low[i] == b.high[i] }

func (b *box) project(x *vector) {
	for i := range x {
		x[i] = min(max(x[i], b.low[i]), b.high[i])
	}
}

func (b *box) free(x, grad *vector) (free [dims]bool) {
	for i := range dims {
		free[i] = !b.pinned(i) && (x[i] > b.low[i] || grad[i] < 0) && (x[i] < b.high[i] || grad[i] > 0)
	}
	return free
}

// step returns the minimiser d of the damped quadratic within the box around x. A variable whose
// step would leave the box stops at the bound, and step solves again for the others. Each turn
// removes a variable, so it ends. It reports false if the quadratic has no minimum.
func (m *quadratic) step(b *box, x *vector, damping float64) (d vector, ok bool) {
	free := b.free(x, &m.grad)
	for hit := true; hit; {
		if !m.solve(damping, &free, &d) {
			return d, false
		}
		hit = false
		for i := range dims {
			to := min(max(x[i]+d[i], b.low[i]), b.high[i])
			if free[i] && to != x[i]+d[i] {
				d[i], free[i], hit = to-x[i], false, true
			}
		}
	}
	return d, true
}

// leastPivot, relative to a variable's scale, is the smallest pivot of a positive definite Hessian.
const leastPivot = 1e-12

// solve computes the free entries of d from (hess + damping scale) d = −grad by LDL'; the others are given.
func (m *quadratic) solve(damping float64, free *[dims]bool, d *vector) bool {
	var at [dims]int // the free variables
	n := 0
	for i := range dims {
		if free[i] {
			at[n] = i
			n++
		}
	}
	var l matrix
	var diag, rhs vector
	for r := range n {
		i := at[r]
		rhs[r] = m.force(i, free, d)
		pivot := m.hess[i][i] + damping*m.scale[i]
		for c := range r {
			sum := m.hess[i][at[c]]
			for k := range c {
				sum -= l[r][k] * l[c][k] * diag[k]
			}
			l[r][c] = sum / diag[c]
			rhs[r] -= l[r][c] * rhs[c]
			pivot -= l[r][c] * sum
		}
		if !(pivot > leastPivot*m.scale[i]) {
			return false
		}
		diag[r] = pivot
	}
	for r := n - 1; r >= 0; r-- {
		sum := rhs[r] / diag[r]
		for k := r + 1; k < n; k++ {
			sum -= l[k][r] * d[at[k]]
		}
		d[at[r]] = sum
	}
	return true
}

func (m *quadratic) force(i int, free *[dims]bool, d *vector) float64 {
	f := -m.grad[i]
	for j := range dims {
		if !free[j] && d[j] != 0 {
			f -= m.hess[max(i, j)][min(i, j)] * d[j]
		}
	}
	return f
}

func (m *quadratic) drop(d *vector) float64 {
	drop := 0.0
	for i := range dims {
		half := m.grad[i] + m.hess[i][i]*d[i]/2
		for j := range i {
			half += m.hess[i][j] * d[j]
		}
		drop -= half * d[i]
	}
	return drop
}

type stage struct{ smoothing, tolerance float64 }

// stages find first the neighbourhood, then the fit. A valley of perfect fits is as narrow as the smoothing,
// so the first one is wide. The last smoothing raises the final loss by at most twice its value.
var stages = [...]stage{{1e-3, 1e-6}, {1e-6, 1e-7}}

// Limits of one search. Damping is multiplied by patience after a failed step and divided by it
// after a successful one.
const (
	mostSteps    = 50
	startDamping = 1e-3
	leastDamping = 1e-6 // smaller values become 0
	mostDamping  = 1e8
	patience     = 8
)

// minimise improves s, already evaluated, by damped Newton steps in the box, until neither the last nor the
// next step lowers the objective by the tolerance, or for mostSteps. t is scratch; f.duals has the
// multipliers.
func (f *fitter) minimise(at stage, b *box, s, t *state) {
	points, y := f.points, f.duals
	var m quadratic
	derive(points, s, y, &m)
	damping := startDamping
	for range mostSteps {
		d, ok := m.step(b, &s.x, damping)
		if !ok {
			damping = max(damping*patience, leastDamping)
			continue
		}
		for i := range dims {
			t.x[i] = s.x[i] + d[i]
		}
		b.project(&t.x) // rounding
		evaluate(points, at.smoothing, t)
		hoped, drop := m.drop(&d), s.value-t.value
		if math.Abs(hoped) < at.tolerance && drop < at.tolerance || damping > mostDamping {
			return
		}
		if !(drop > 0) {
			damping = max(damping*patience, leastDamping)
			continue
		}
		advance(s, t, y)
		*s, *t = *t, *s
		if drop > hoped/4 {
			damping /= patience
			if damping < leastDamping {
				damping = 0
			}
		}
		derive(points, s, y, &m)
	}
}

// A line accumulates the least squares of the relative error (α + β x)/y − 1 over measurements y at
// x.
type line struct{ s0, s1, s2, r0, r1 float64 }

func (l *line) add(x, y float64) {
	w := 1 / y
	l.s0 += w * w
	l.s1 += w * w * x
	l.s2 += w * w * x * x
	l.r0 += w
	l.r1 += w * x
}

func (l *line) fit() (alpha, beta float64) {
	const sameX = 1e-9 // relative determinant
	if l.s0 == 0 {
		return floor, floor
	}
	if det := l.s0*l.s2 - l.s1*l.s1; det > sameX*l.s0*l.s2 {
		alpha = (l.r0*l.s2 - l.r1*l.s1) / det
		beta = (l.s0*l.r1 - l.s1*l.r0) / det
		if alpha < floor {
			return floor, l.r1 / l.s2
		}
	}
	if beta < floor {
		return l.r0 / l.s0, floor
	}
	return alpha, beta
}

// leastGap is the least share of a step, to the power of gamma, that a guess assigns to the
// network.
const leastGap = 1e-3

// guess returns the start of a cold fit: each phase alone by least squares, with overlap exponent g.
func guess(obs []perf.Observation, b *box, g float64) vector {
	var acc, between, within line
	for i := range obs {
		o := &obs[i]
		acc.add(float64(o.Local), o.Compute)
		share := max(leastGap, 1-math.Pow(o.Compute/o.Step, g))
		net := o.Step * math.Pow(share, 1/g)
		switch {
		case o.Nodes > 1:
			between.add(float64(max(o.Replicas-2, 0)), net)
		case o.Replicas > 1:
			within.add(float64(o.Replicas-2), net)
		}
	}
	x := vector{gamma: g}
	x[alphaC], x[betaC] = acc.fit()
	x[alphaN], x[betaN] = between.fit()
	x[alphaR], x[betaR] = within.fit()
	x[alphaN] = max(x[alphaN], x[betaN]) // the prior is steep beyond
	x[alphaR] = max(x[alphaR], x[betaR])
	if b.pinned(alphaC) { // the slope provides the other half
		x[betaC] = b.low[alphaC] / float64(obs[0].Local)
	}
	if b.pinned(alphaN) && b.pinned(alphaR) {
		x[gamma] = 1 // only its prior counts
	}
	return x
}

// resume returns start, but uses the guess for each phase that start has at floor: there the
// derivatives are 0.
func resume(guess, start vector) vector {
	const unseen = 2 * networkPrior * floor
	for _, k := range [...]int{alphaC, alphaN, alphaR} {
		if start[k] <= unseen && start[k+1] <= unseen {
			start[k], start[k+1] = guess[k], guess[k+1]
		}
	}
	return start
}
