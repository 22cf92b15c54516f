package copter

import (
	"context"
	"math"
)

// A newton maximises the concave, piecewise quadratic dual of one proximal step over y. Its slope is w.miss, and
// its Hessian in a piece is
//
//	-H = -(A P A' + the curvature of z)
//
// over the columns inside their bounds, where P scales by their give and removes the direction across block rows
// that hold.
type newton struct {
	w *work

	free    []int32 // by block
	group   []int32 // ends of the blocks in free
	tied    []bool  // by group: its block row holds
	u       []float64
	diag    []float64
	damp    []float64
	dir     []float64
	r, p, q []float64
	pre     []float64
	trial   []float64
	dense   bool
	hess    []float64 // m by m, if dense
	list    []int32
	sum     []float64
	listed  []bool
}

func newNewton(w *work) *newton {
	m := len(w.y)
	vec := func() []float64 { return make([]float64, m) }
	return &newton{
		w:    w,
		diag: vec(), damp: vec(), dir: vec(), r: vec(), p: vec(), q: vec(), pre: vec(), trial: vec(),
	}
}

func (n *newton) solve(ctx context.Context, tolerance float64, limit int) (steps, evals int) {
	w := n.w
	w.minimise(w.y)
	evals = 1
	least, since := math.Inf(1), 0
	for ; steps < limit && ctx.Err() == nil; steps++ {
		res := w.residual()
		if res < 0.9*least {
			least, since = res, steps
		}
		if res <= tolerance || least < 1e-7 && steps > since+8 { // or no progress beyond rounding
			break
		}
		n.curvature(min(1e-2, 0.1*res))
		n.direction(0.1)
		slope := dot(w.miss, n.dir)
		if !(slope > 0) {
			break
		}
		e, moved := n.search(slope)
		evals += e
		if !moved {
			break
		}
	}
	return steps, evals
}

func (n *newton) curvature(damping float64) {
	w := n.w
	n.free, n.group, n.tied = n.free[:0], n.group[:0], n.tied[:0]
	for i := range n.diag {
		g := w.zGive[i] * w.scale
		n.damp[i] = damping * g
		n.diag[i] = n.damp[i]
		if w.z[i] > w.rowLow[i] && w.z[i] < w.rowUp[i] {
			n.damp[i] += g
			n.diag[i] += g
		}
	}
	for b := range w.blockRow {
		from := len(n.free)
		tied := w.blockRow[b] >= 0 && w.tight[b]
		for c := w.begin[b]; c < w.begin[b+1]; c++ {
			if w.x[c] > w.low[c] && w.x[c] < w.up[c] {
				n.free = append(n.free, c)
			}
		}
		if tied && len(n.free) <= from+1 {
			n.free = n.free[:from] // its row determines it
			continue
		}
		if len(n.free) == from {
			continue
		}
		n.group = append(n.group, int32(len(n.free)))
		n.tied = append(n.tied, tied)
		for _, c := range n.free[from:] {
			g := w.give[c] * w.scale
			for e := w.first[c]; e < w.first[c+1]; e++ {
				n.diag[w.row[e]] += w.val[e] * w.val[e] * g
			}
		}
	}
	n.u = sized(n.u, len(n.free))
	n.form()
}

func (n *newton) form() {
	w := n.w
	m := len(w.y)
	entries := 0
	for _, c := range n.free {
		entries += int(w.first[c+1] - w.first[c])
	}
	if n.dense = m*m <= 8*entries; !n.dense {
		return
	}
	n.hess = sized(n.hess, m*m)
	n.sum, n.listed = sized(n.sum, m), sized(n.listed, m)
	clear(n.hess)
	clear(n.sum)
	clear(n.listed)
	for i, d := range n.damp {
		n.hess[i*m+i] = d
	}
	from := int32(0)
	for k, to := range n.group {
		n.list = n.list[:0]
		across := 0.0
		for _, c := range n.free[from:to] {
			across += n.formCol(c, n.tied[k])
		}
		if n.tied[k] {
			n.tie(across)
		}
		from = to
	}
}

// formCol adds a free column to the Hessian, and returns its part of the curvature of a row that holds.
func (n *newton) formCol(c int32, tied bool) (across float64) {
	w := n.w
	m := len(w.y)
	g := w.give[c] * w.scale
	rows, values := w.row[w.first[c]:w.first[c+1]], w.val[w.first[c]:w.first[c+1]]
	for e, i := range rows {
		h := n.hess[int(i)*m : int(i)*m+m]
		v := g * values[e]
		for f, q := range rows {
			h[q] += v * values[f]
		}
	}
	if !tied {
		return 0
	}
	for e, i := range rows {
		if !n.listed[i] { // sum may be 0 by cancellation
			n.listed[i] = true
			n.list = append(n.list, i)
		}
		n.sum[i] += g * w.coef[c] * values[e]
	}
	return w.coef[c] * w.coef[c] * g
}

func (n *newton) tie(across float64) {
	m := len(n.w.y)
	for _, i := range n.list {
		h := n.hess[int(i)*m : int(i)*m+m]
		v := n.sum[i] / across
		for _, q := range n.list {
			h[q] -= v * n.sum[q]
		}
	}
	for _, i := range n.list {
		n.sum[i], n.listed[i] = 0, false
	}
}

func (n *newton) times(v, out []float64) {
	w := n.w
	if n.dense {
		m := len(v)
		for i := range out {
			out[i] = dot(n.hess[i*m:i*m+m], v)
		}
		return
	}
	for i, d := range n.damp {
		out[i] = d * v[i]
	}
	from := int32(0)
	for k, to := range n.group {
		along, across := 0.0, 0.0
		for f := from; f < to; f++ {
			c := n.free[f]
			sum := 0.0
			entries, values := w.row[w.first[c]:w.first[c+1]], w.val[w.first[c]:w.first[c+1]]
			for e, i := range entries {
				sum += values[e] * v[i]
			}
			g := w.give[c] * w.scale
			n.u[f] = g * sum
			along += w.coef[c] * n.u[f]
			across += w.coef[c] * w.coef[c] * g
		}
		ratio := 0.0
		if n.tied[k] && across > 0 {
			ratio = along / across
		}
		for f := from; f < to; f++ {
			c := n.free[f]
			u := n.u[f] - ratio*w.coef[c]*w.give[c]*w.scale
			entries, values := w.row[w.first[c]:w.first[c+1]], w.val[w.first[c]:w.first[c+1]]
			for e, i := range entries {
				out[i] += values[e] * u
			}
		}
		from = to
	}
}

// direction solves H dir = miss by preconditioned conjugate gradients.
func (n *newton) direction(tolerance float64) {
	w := n.w
	clear(n.dir)
	copy(n.r, w.miss)
	for i, d := range n.diag {
		n.pre[i] = 0
		if d > 0 {
			n.pre[i] = 1 / d
		}
		n.p[i] = n.pre[i] * n.r[i]
	}
	rho := dot(n.r, n.p)
	goal := tolerance * tolerance * rho
	for range maxConjugate {
		if !(rho > goal) {
			return
		}
		n.times(n.p, n.q)
		curve := dot(n.p, n.q)
		if !(curve > 0) {
			return
		}
		alpha := rho / curve
		for i := range n.dir {
			n.dir[i] += alpha * n.p[i]
			n.r[i] -= alpha * n.q[i]
		}
		next := 0.0
		for i, v := range n.r {
			next += v * v * n.pre[i]
		}
		beta := next / rho
		rho = next
		for i, v := range n.r {
			n.p[i] = n.pre[i]*v + beta*n.p[i]
		}
	}
}

// search moves y along dir to a slope of 0 to 0.8 times the start. The slope only falls, so the dual has risen up
// to there. No function values are needed, which round.
func (n *newton) search(slope float64) (evals int, moved bool) {
	w := n.w
	low, high := 0.0, math.Inf(1)
	lowSlope, highSlope := slope, 0.0
	for t := 1.0; evals < 40; {
		for i, v := range w.y {
			n.trial[i] = v + t*n.dir[i]
		}
		w.minimise(n.trial)
		evals++
		s := dot(w.miss, n.dir)
		if s >= 0 && s <= 0.8*slope || s > 0 && t >= 1e6 {
			copy(w.y, n.trial)
			return evals, true
		}
		if s > 0 {
			low, lowSlope = t, s
		} else {
			high, highSlope = t, s
		}
		switch {
		case math.IsInf(high, 1):
			t *= 4
		default:
			// between the chord's root and the middle
			root := low + (high-low)*lowSlope/(lowSlope-highSlope)
			t = clip(root, low+0.3*(high-low), high-0.3*(high-low))
		}
	}
	if low > 0 {
		for i := range w.y {
			w.y[i] += low * n.dir[i]
		}
	}
	w.minimise(w.y)
	return evals + 1, low > 0
}

func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
