package barrier

import "math"

type stepper struct {
	dx, dp         [][]float64
	du, dq, dv, dw []float64
	df, dy         []float64
	dz             float64
	root           [][]float64 // T of the inverse T'T of its matrix
	h              []float64   // product with T
	m              [][]float64 // change of fractions per unit of level
	g              [][]float64
	small, large   *factor // of an item and of the kinds
	row            []float64
	system         system
}

// A system is left after eliminating the items: A η − across dz = right, across'η + give dz = level.
type system struct {
	right, across, eta []float64
	give, level        float64
}

func newStepper(n, k int) stepper {
	vector := func(n int) []float64 { return make([]float64, n) }
	return stepper{
		dx: matrix(n, k), dp: matrix(n, k), root: matrix(n, k*k), h: vector(k), m: matrix(n, k), g: matrix(n, k),
		du: vector(n), dq: vector(n), dv: vector(n), dw: vector(n), df: vector(k), dy: vector(k),
		small: newFactor(k), large: newFactor(k), row: vector(k),
		system: system{right: vector(k), across: vector(k), eta: vector(k)},
	}
}

// newton computes the step towards products of t. With the diagonal D of y/f, an item's matrix B =
// diag(p/x) + (q/u) 11' + (w/v) aa' and right-hand side g, it solves
//
//	dx = B⁻¹ (g − s·η) + m dz,  η = D Σ s dx,  and the level's dual row,
//
// first for η and dz.
func (w *path) newton(t float64) {
	s := &w.step
	s.large.diagonal(w.f, w.y)
	clear(s.system.right)
	clear(s.system.across)
	s.system.give, s.system.level = 0, 1
	for i := range w.items {
		w.eliminate(i, t)
	}
	eta := s.solve(w.level)
	for j := range w.c {
		s.df[j] = -eta[j] * w.f[j] / w.y[j]
		s.dy[j] = t/w.f[j] - w.y[j] + eta[j]
	}
	for i := range w.items {
		w.substitute(i, t, eta)
	}
}

func (s *stepper) solve(level bool) []float64 {
	y := &s.system
	s.large.solve(y.right, y.eta)
	if s.dz = 0; !level {
		return y.eta
	}
	s.large.solve(y.across, s.row)
	s.dz = (y.level - dot(y.across, y.eta)) / (y.give + dot(y.across, s.row))
	for j := range y.eta {
		y.eta[j] += s.row[j] * s.dz
	}
	return y.eta
}

func (w *path) eliminate(i int, t float64) {
	s, it := &w.step, &w.items[i]
	g, m, root, k := s.g[i], s.m[i], s.root[i], len(w.c)
	for j, on := range it.on {
		if g[j] = 0; on > 0 {
			g[j] = it.c[j] + t/it.x[j] - t/it.u - it.s[j]*t/w.f[j]
			if it.needs {
				g[j] += it.a[j] * t / it.v
			}
		}
	}
	s.small.diagonal(it.p, it.x)
	s.small.update(it.on, math.Sqrt(it.q/it.u))
	give := 0.0
	if it.needs {
		give = s.small.weigh(it.a, m, it.v/it.w)
		s.small.update(it.a, math.Sqrt(it.w/it.v))
	}
	s.small.invert(root)
	s.times(root, g)
	for l := range k {
		for j := range k {
			s.row[j] = it.s[j] * root[j*k+l]
		}
		s.large.update(s.row, 1)
		s.system.add(s.row, s.h[l])
	}
	if !w.level || !it.needs {
		return
	}
	for j := range k {
		s.system.across[j] += it.s[j] * m[j]
	}
	s.system.give += give
	s.system.level += dot(m, g) - t/it.v
}

func (y *system) add(row []float64, h float64) {
	for j, v := range row {
		y.right[j] += v * h
	}
}

func (w *path) substitute(i int, t float64, eta []float64) {
	s, it := &w.step, &w.items[i]
	k, dx, dz := len(w.c), s.dx[i], 0.0
	if w.level && it.needs {
		dz = s.dz
	}
	for j := range k {
		s.g[i][j] -= it.s[j] * eta[j]
	}
	s.times(s.root[i], s.g[i])
	for j := range k {
		if dx[j] = 0; it.on[j] > 0 {
			dx[j] = dot(s.root[i][j*k:(j+1)*k], s.h) + s.m[i][j]*dz
			s.dp[i][j] = t/it.x[j] - it.p[j] - it.p[j]/it.x[j]*dx[j]
		}
	}
	s.du[i] = -sum(dx)
	s.dq[i] = t/it.u - it.q - it.q/it.u*s.du[i]
	if it.needs {
		s.dv[i] = dot(it.a, dx) - dz
		s.dw[i] = t/it.v - it.w - it.w/it.v*s.dv[i]
	}
}

// times sets s.h to T g. T'(Tg) keeps small sums of large numbers.
func (s *stepper) times(root, g []float64) {
	clear(s.h)
	for j, v := range g {
		for l, t := range root[j*len(g) : (j+1)*len(g)] {
			s.h[l] += t * v
		}
	}
}

func (w *path) lengths() (primal, dual float64) {
	s := &w.step
	primal, dual = 1, 1
	limit := func(length *float64, value, change float64) {
		if change < 0 {
			*length = math.Min(*length, -0.99*value/change)
		}
	}
	for i := range w.items {
		it := &w.items[i]
		limit(&primal, it.u, s.du[i])
		limit(&dual, it.q, s.dq[i])
		if it.needs {
			limit(&primal, it.v, s.dv[i])
			limit(&dual, it.w, s.dw[i])
		}
		for j, on := range it.on {
			if on > 0 {
				limit(&primal, it.x[j], s.dx[i][j])
				limit(&dual, it.p[j], s.dp[i][j])
			}
		}
	}
	for j := range w.f {
		limit(&primal, w.f[j], s.df[j])
		limit(&dual, w.y[j], s.dy[j])
	}
	return primal, dual
}

func (w *path) move(primal, dual float64) {
	s := &w.step
	for i := range w.items {
		it := &w.items[i]
		it.u += primal * s.du[i]
		it.q += dual * s.dq[i]
		if it.needs {
			it.v += primal * s.dv[i]
			it.w += dual * s.dw[i]
		}
		for j := range it.x {
			it.x[j] += primal * s.dx[i][j]
			it.p[j] += dual * s.dp[i][j]
		}
	}
	for j := range w.f {
		w.f[j] += primal * s.df[j]
		w.y[j] += dual * s.dy[j]
	}
	w.z += primal * s.dz
}
