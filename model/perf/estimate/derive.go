package estimate

import "math"

// A matrix is symmetric; only its entries [i][j] with i >= j count.
type matrix [dims][dims]float64

type pair [2]float64

func (x *vector) add(i int, w float64, p *pair) {
	x[i] += w * p[0]
	x[i+1] += w * p[1]
}

func (h *matrix) add(i, j int, w float64, p, q *pair) {
	h[i][j] += w * p[0] * q[0]
	h[i][j+1] += w * p[0] * q[1]
	h[i+1][j] += w * p[1] * q[0]
	h[i+1][j+1] += w * p[1] * q[1]
}

func (x *vector) addSquares(i int, w float64, p *pair) {
	x[i] += w * p[0] * p[0]
	x[i+1] += w * p[1] * p[1]
}

// A quadratic is the local model of the objective for Newton's method: value + grad'd + d'hess d/2. Damping
// adds a multiple of scale, the non-negative diagonal of the Gauss-Newton Hessian.
type quadratic struct {
	grad  vector
	hess  matrix
	scale vector
}

// A dual holds a multiplier for each error of a point. If not all errors are zero, the multipliers
// tend to error over root mean square; at a perfect fit they tend to values that balance the rest
// of the objective. Source: Chan, Golub and Mulet, "A nonlinear primal-dual method for total
// variation-based image restoration", §3.
type dual struct{ u, v float64 }

// A row of the Jacobian has the derivatives of the errors of a point: of a = log T_acc with respect
// to the pair at alphaC, and of b = log T_net with respect to the pair at network.
type row struct {
	*term
	a, b    pair
	network int
}

// A pull accumulates J'errors and J'multipliers for one kind of error with Jacobian J.
type pull struct{ errors, duals vector }

// derive sets m to the exact gradient of the smoothed objective at s and to its Hessian, in which
// the multipliers y replace one occurrence of error over root mean square. The Hessian of a root
// mean square is
//
//	(J'J − (J'y)(J'error)'/(n rms)) / (n rms) + Σ y ∇²error / n.
func derive(points []point, s *state, y []dual, m *quadratic) {
	*m = quadratic{}
	var us, vs pull
	n := float64(len(points))
	wu, wv := 1/(n*s.rmsU), 1/(n*s.rmsV)
	for i := range points {
		p, t := &points[i], &s.terms[i]
		r := row{t, pair{t.perAcc, t.perAcc * p.local}, pair{t.perNet, t.perNet * p.peers}, p.network}
		us.errors.add(alphaC, t.u, &r.a)
		us.duals.add(alphaC, y[i].u, &r.a)
		vs.errors.chain(t.v, &r)
		vs.duals.chain(y[i].v, &r)
		m.addU(wu, y[i].u/n, &r)
		m.addV(wv, y[i].v/n, s.x[gamma], &r)
	}
	cu, cv := wu/(2*n*s.rmsU), wv/(2*n*s.rmsV)
	for i := range dims {
		m.grad[i] = wu*us.errors[i] + wv*vs.errors[i]
		for j := range i + 1 {
			m.hess[i][j] -= cu*(us.errors[i]*us.duals[j]+us.duals[i]*us.errors[j]) +
				cv*(vs.errors[i]*vs.duals[j]+vs.duals[i]*vs.errors[j])
		}
	}
	m.addPriors(&s.x)
}

func (x *vector) chain(w float64, r *row) {
	x.add(alphaC, w*(1-r.q), &r.a)
	x[gamma] += w * r.slope
	if r.network != none {
		x.add(r.network, w*r.q, &r.b)
	}
}

// addU adds w ∂u ∂u' + y ∂²u. A logarithm's second derivative is minus the
// square of its first.
func (m *quadratic) addU(w, y float64, r *row) {
	m.hess.add(alphaC, alphaC, w-y, &r.a, &r.a)
	m.scale.addSquares(alphaC, w, &r.a)
}

// addV adds w ∂v ∂v' + y ∂²v: first by a, b and g, then by the parameters.
func (m *quadratic) addV(w, y, g float64, r *row) {
	va, vb, vg := 1-r.q, r.q, r.slope
	mix := va * vb
	aa := w*va*va + y*(g*mix-va)
	ab := w*va*vb - y*g*mix
	bb := w*vb*vb + y*(g*mix-vb)
	ag := w*va*vg + y*mix*r.ahead
	bg := w*vb*vg - y*mix*r.ahead
	gg := w*vg*vg + y*(mix*r.ahead*r.ahead-2*vg)/g

	m.hess.add(alphaC, alphaC, aa, &r.a, &r.a)
	m.hess[gamma][alphaC] += ag * r.a[0]
	m.hess[gamma][betaC] += ag * r.a[1]
	m.hess[gamma][gamma] += gg
	m.scale.addSquares(alphaC, w*va*va, &r.a)
	m.scale[gamma] += w * vg * vg
	if k := r.network; k != none {
		m.hess.add(k, k, bb, &r.b, &r.b)
		m.hess.add(k, alphaC, ab, &r.b, &r.a)
		m.hess[gamma][k] += bg * r.b[0]
		m.hess[gamma][k+1] += bg * r.b[1]
		m.scale.addSquares(k, w*vb*vb, &r.b)
	}
}

func (m *quadratic) addPriors(x *vector) {
	m.grad[gamma] += 2 * overlapPrior * (x[gamma] - 1)
	m.hess[gamma][gamma] += 2 * overlapPrior
	m.scale[gamma] += 2 * overlapPrior
	for _, k := range [2]int{alphaN, alphaR} {
		ratio := x[k+1] / x[k]
		d := pair{-ratio / x[k], 1 / x[k]} // of ratio
		m.grad.add(k, 2*growthPrior*ratio, &d)
		m.hess[k][k] += 6 * growthPrior * d[0] * d[0]
		m.hess[k+1][k] += 4 * growthPrior * d[0] * d[1]
		m.hess[k+1][k+1] += 2 * growthPrior * d[1] * d[1]
		m.scale.addSquares(k, 2*growthPrior, &d)
	}
}

// advance moves the multipliers along a step from s to t: error = rms y still holds to first order,
// and the multipliers stay in the unit ball.
func advance(s, t *state, y []dual) {
	n := float64(len(y))
	du, dv := 0.0, 0.0
	for i := range y {
		du += s.terms[i].u * (t.terms[i].u - s.terms[i].u)
		dv += s.terms[i].v * (t.terms[i].v - s.terms[i].v)
	}
	du /= n * s.rmsU * s.rmsU
	dv /= n * s.rmsV * s.rmsV
	sumU, sumV := 0.0, 0.0
	for i := range y {
		y[i].u = t.terms[i].u/s.rmsU - y[i].u*du
		y[i].v = t.terms[i].v/s.rmsV - y[i].v*dv
		sumU += y[i].u * y[i].u
		sumV += y[i].v * y[i].v
	}
	lu, lv := math.Sqrt(max(1, sumU/n)), math.Sqrt(max(1, sumV/n))
	for i := range y {
		y[i].u /= lu
		y[i].v /= lv
	}
}
