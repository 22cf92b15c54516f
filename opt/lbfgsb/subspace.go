package lbfgsb

import (
	"math"
)

// subspace moves target on to the model's minimum over the free variables in the box; false if rounding leaves
// none. Source: Byrd et al. §5; Morales and Nocedal §2.
func (m *minimizer) subspace() bool {
	free := m.index[:0]
	for i := range m.free {
		if m.free[i] {
			free = append(free, i)
		}
	}
	if len(free) == 0 || m.hessian.count == 0 {
		return true
	}
	step := m.work[0][:len(free)]
	m.force(free, step)
	if !m.solve(free, step) {
		return false
	}
	m.bend(free, step)
	return true
}

func (m *minimizer) force(free []int, out []float64) {
	moved := m.work[1]
	for i := range moved {
		moved[i] = m.target[i] - m.x[i]
	}
	for r, i := range free {
		out[r] = -m.grad[i] - dot(m.hessian.row(i), moved)
	}
}

// solve solves B step = rhs in the free variables, by Cholesky's LL'.
func (m *minimizer) solve(free []int, rhs []float64) bool {
	n := len(free)
	for r, i := range free {
		b, row := m.hessian.row(i), m.factor[r*n:(r+1)*n]
		for c, j := range free[:r] {
			other := m.factor[c*n : c*n+c+1]
			row[c] = (b[j] - dot(other[:c], row)) / other[c]
		}
		pivot := b[i] - dot(row[:r], row)
		if !(pivot > 0) {
			return false
		}
		row[r] = math.Sqrt(pivot)
		rhs[r] = (rhs[r] - dot(row[:r], rhs)) / row[r]
	}
	for r := n - 1; r >= 0; r-- {
		row := m.factor[r*n : (r+1)*n]
		rhs[r] /= row[r]
		for c := range r {
			rhs[c] -= row[c] * rhs[r]
		}
	}
	return true
}

// bend adds the step and projects into the box. If that points uphill, it cuts the step at the first wall.
func (m *minimizer) bend(free []int, step []float64) {
	cauchy := m.work[1]
	copy(cauchy, m.target)
	bent := false
	for r, i := range free {
		m.target[i] = m.clamp(i, cauchy[i]+step[r])
		bent = bent || m.target[i] == m.lower[i] || m.target[i] == m.upper[i]
	}
	if !bent {
		return
	}
	slope := 0.0
	for i, g := range m.grad {
		slope += (m.target[i] - m.x[i]) * g
	}
	if slope > 0 {
		copy(m.target, cauchy)
		m.cut(free, step)
	}
}

func (m *minimizer) cut(free []int, step []float64) {
	share, wall := 1.0, -1
	for r, i := range free {
		if room := m.room(i, m.target[i], step[r]); room < share {
			share, wall = room, r
		}
	}
	for r, i := range free {
		m.target[i] = m.clamp(i, m.target[i]+share*step[r])
		if r == wall && step[r] < 0 {
			m.target[i] = m.lower[i]
		} else if r == wall {
			m.target[i] = m.upper[i]
		}
	}
}

func (m *minimizer) room(i int, x, d float64) float64 {
	switch {
	case d < 0:
		return max(0, (m.lower[i]-x)/d)
	case d > 0:
		return max(0, (m.upper[i]-x)/d)
	}
	return math.Inf(1)
}

// cauchy sets target to the generalised Cauchy point, the first local minimum of the model on the path t ↦ P(x − t
// g), and free to the variables not at a wall there. On each straight piece of the path the model is a parabola in
// t. Source: Byrd et al. §4.
func (m *minimizer) cauchy() {
	copy(m.target, m.x)
	if !m.constrained && m.hessian.count > 0 {
		for i := range m.free {
			m.free[i] = true
		}
		return // nothing is at a wall
	}
	d, meets, bd := m.work[0], m.work[1], m.work[2]
	m.descend(d, meets)
	m.hessian.times(d, bd)
	leastCurve := epsilon * dot(d, bd)
	now := 0.0
	for {
		slope, curve := dot(m.grad, d), dot(d, bd)
		for i := range bd {
			slope += (m.target[i] - m.x[i]) * bd[i]
		}
		minimum := -slope / max(curve, leastCurve)
		wall, next := m.nextWall(d, meets)
		if wall < 0 || !(minimum >= next-now) {
			m.move(d, minimum)
			return
		}
		m.move(d, next-now)
		m.stop(wall, d)
		m.hessian.times(d, bd)
		now = next
	}
}

// descend sets d to −g for free variables, and meets to the times of their walls.
func (m *minimizer) descend(d, meets []float64) {
	for i, g := range m.grad {
		wall := m.lower[i]
		if g < 0 {
			wall = m.upper[i]
		}
		atLower, atUpper := m.x[i] <= m.lower[i], m.x[i] >= m.upper[i]
		m.free[i] = (!atLower || g < 0) && (!atUpper || g > 0)
		d[i], meets[i] = 0, math.Inf(1)
		if m.free[i] && g != 0 {
			d[i], meets[i] = -g, (m.x[i]-wall)/g
		}
	}
}

func (m *minimizer) nextWall(d, meets []float64) (int, float64) {
	wall, next := -1, math.Inf(1)
	for i, t := range meets {
		if d[i] != 0 && t < next {
			wall, next = i, t
		}
	}
	return wall, next
}

func (m *minimizer) move(d []float64, time float64) {
	if !(time > 0) {
		return
	}
	for i := range d {
		if d[i] != 0 {
			m.target[i] = m.clamp(i, m.target[i]+time*d[i])
		}
	}
}

func (m *minimizer) stop(i int, d []float64) {
	m.target[i] = m.lower[i]
	if d[i] > 0 {
		m.target[i] = m.upper[i]
	}
	d[i], m.free[i] = 0, false
}

// hessian is B: θI, updated by BFGS with the last pairs. θ is y'y/y's of the newest.
//
// Invariant: every pair has y's > 0, so B is positive definite up to rounding.
type hessian struct {
	n     int
	b     []float64 // n×n, symmetric
	s, y  []float64
	ys    []float64 // y's of each
	cap   int
	count int
	next  int
	bs    []float64
}

func (h *hessian) reset(n, pairs int) {
	h.n, h.cap = n, pairs
	h.b, h.bs = resize(h.b, n*n), resize(h.bs, n)
	h.s, h.y, h.ys = resize(h.s, n*pairs), resize(h.y, n*pairs), resize(h.ys, pairs)
	h.forget()
}

func (h *hessian) forget() {
	h.count, h.next = 0, 0
	h.scale(1)
}

func (h *hessian) scale(theta float64) {
	clear(h.b)
	for i := 0; i < len(h.b); i += h.n + 1 {
		h.b[i] = theta
	}
}

func (h *hessian) row(i int) []float64 { return h.b[i*h.n : (i+1)*h.n] }

func (h *hessian) times(v, out []float64) {
	for i := range out {
		out[i] = dot(h.row(i), v)
	}
}

func (h *hessian) add(s, before, after []float64, ys float64) {
	at := h.next * h.n
	copy(h.s[at:at+h.n], s)
	y := h.y[at : at+h.n]
	for i := range y {
		y[i] = after[i] - before[i]
	}
	h.ys[h.next] = ys
	h.next = (h.next + 1) % h.cap
	h.count = min(h.count+1, h.cap)
	h.build(dot(y, y) / ys)
}

// build computes B: for each pair, B += yy'/y's − Bs(Bs)'/s'Bs.
func (h *hessian) build(theta float64) {
	h.scale(theta)
	for k := range h.count {
		p := (h.next - h.count + k + h.cap) % h.cap
		s, y := h.s[p*h.n:(p+1)*h.n], h.y[p*h.n:(p+1)*h.n]
		h.times(s, h.bs)
		wy, wb := 1/h.ys[p], 1/dot(s, h.bs)
		for i := range h.n {
			row, cy, cb := h.row(i), wy*y[i], wb*h.bs[i]
			bs := h.bs[:len(row)]
			for j, v := range y[:len(row)] {
				row[j] += cy*v - cb*bs[j]
			}
		}
	}
}
