package lbfgsb

import "math"

// cauchy sets target to the generalised Cauchy point, the first local minimum of the model on the path t ↦ P(x − t
// g), and free to the variables not at a wall there. On each straight piece of the path the model is a parabola in
// t. Source: Byrd et al. §4.
func (m *Minimizer) cauchy() {
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
func (m *Minimizer) descend(d, meets []float64) {
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

func (m *Minimizer) nextWall(d, meets []float64) (int, float64) {
	wall, next := -1, math.Inf(1)
	for i, t := range meets {
		if d[i] != 0 && t < next {
			wall, next = i, t
		}
	}
	return wall, next
}

func (m *Minimizer) move(d []float64, time float64) {
	if !(time > 0) {
		return
	}
	for i := range d {
		if d[i] != 0 {
			m.target[i] = m.clamp(i, m.target[i]+time*d[i])
		}
	}
}

func (m *Minimizer) stop(i int, d []float64) {
	m.target[i] = m.lower[i]
	if d[i] > 0 {
		m.target[i] = m.upper[i]
	}
	d[i], m.free[i] = 0, false
}
