package rules

import "math"

// The steps' constants. Source: ECOS.
const (
	leastCentring = 1e-4
	shortestStep  = 1e-6
	longestStep   = 0.999
	backOff       = 0.99
)

type point struct {
	x, s, z    []float64
	tau, kappa float64
}

type iterate struct {
	point
	saved point

	c, h             []float64
	rows             []row
	colUnit, rowUnit []float64

	rx, rz         []float64 // residuals
	rt, mu         float64
	dual           float64 // norm of G'z
	w, lambda      []float64
	x1, z1, x2, z2 []float64
	ds, bz         []float64
	system         system
}

func newIterate(p *program) *iterate {
	n, m := len(p.Cost), len(p.Rows)
	t := &iterate{c: append([]float64(nil), p.Cost...), h: make([]float64, m), rows: make([]row, m)}
	for i, r := range p.Rows {
		t.rows[i] = row{Cols: r.Cols, Values: append([]float64(nil), r.Values...)}
		t.h[i] = r.Right
	}
	vector := func(n int) []float64 { return make([]float64, n) }
	t.colUnit, t.rowUnit = vector(n), vector(m)
	for j := range t.colUnit {
		t.colUnit[j] = 1
	}
	for i := range t.rowUnit {
		t.rowUnit[i] = 1
	}
	t.x, t.rx, t.x1, t.x2 = vector(n), vector(n), vector(n), vector(n)
	t.s, t.z, t.rz, t.w, t.lambda = vector(m), vector(m), vector(m), vector(m), vector(m)
	t.z1, t.z2, t.ds, t.bz = vector(m), vector(m), vector(m), vector(m)
	t.scale()
	t.system = newSystem(n, t.rows)
	return t
}

func (t *iterate) residuals() {
	clear(t.rx)
	for i, r := range t.rows {
		t.rz[i] = t.s[i] - t.tau*t.h[i]
		for k, j := range r.Cols {
			t.rx[j] -= r.Values[k] * t.z[i]
			t.rz[i] += r.Values[k] * t.x[j]
		}
	}
	t.dual = norm(t.rx)
	for j := range t.rx {
		t.rx[j] -= t.tau * t.c[j]
	}
	t.rt = t.kappa + dot(t.c, t.x) + dot(t.h, t.z)
	t.mu = (dot(t.s, t.z) + t.kappa*t.tau) / float64(len(t.s)+1)
}

// within tests the tolerances; without a feasible point tau goes to 0, kappa does not.
func (t *iterate) within(limit float64) bool {
	primal := norm(t.rz) / (math.Max(1, norm(t.h)) + norm(t.x) + norm(t.s)) / t.tau
	dual := norm(t.rx) / (math.Max(1, norm(t.c)) + norm(t.z)) / t.tau
	gap, relative := dot(t.s, t.z), math.Inf(1)
	objective, bound := dot(t.c, t.x)/t.tau, -dot(t.h, t.z)/t.tau
	if objective < 0 {
		relative = gap / -objective
	} else if bound > 0 {
		relative = gap / bound
	}
	return t.tau > t.kappa && primal < limit && dual < limit && (gap < limit || relative < limit)
}

// advance makes one step, centred by the affine direction. Source: CVXOPT §7.1, Mehrotra's predictor and
// corrector.
func (t *iterate) advance() {
	t.prepare()
	curve := t.kappa/t.tau - dot(t.c, t.x1) - dot(t.h, t.z1)
	for i := range t.bz {
		t.bz[i] = t.s[i] - t.rz[i]
		t.ds[i] = t.lambda[i] * t.lambda[i]
	}
	t.system.solve(t.rows, t.rx, t.bz, t.x2, t.z2)
	tau, kappa, length := t.direction(t.rt, curve, t.kappa*t.tau)

	short := 1 - length
	centre := math.Min(1, math.Max(leastCentring, short*short*short))
	rx := make([]float64, len(t.rx))
	for j := range rx {
		rx[j] = (1 - centre) * t.rx[j]
	}
	for i := range t.bz {
		// 1. products, less second-order terms
		t.ds[i] = t.lambda[i]*t.lambda[i] + t.scaledS(i)*t.w[i]*t.z2[i] - centre*t.mu
		t.bz[i] = t.w[i]*t.ds[i]/t.lambda[i] - (1-centre)*t.rz[i]
	}
	t.system.solve(t.rows, rx, t.bz, t.x2, t.z2) // 2. the step
	tau, kappa, length = t.direction((1-centre)*t.rt, curve, t.kappa*t.tau+kappa*tau-centre*t.mu)
	t.move(backOff*length, tau, kappa)
}

func (t *iterate) prepare() {
	d, minus := make([]float64, len(t.s)), make([]float64, len(t.c))
	for i := range d {
		d[i] = t.s[i] / t.z[i]
		t.w[i], t.lambda[i] = math.Sqrt(d[i]), math.Sqrt(t.s[i]*t.z[i])
	}
	for j := range minus {
		minus[j] = -t.c[j]
	}
	t.system.factor(t.rows, d)
	t.system.solve(t.rows, minus, t.h, t.x1, t.z1)
}

// direction completes x2 and z2, and returns the changes of tau and kappa and the longest step. t.ds is subtracted
// from products.
func (t *iterate) direction(rt, curve, products float64) (tau, kappa, length float64) {
	tau = (rt - products/t.tau + dot(t.c, t.x2) + dot(t.h, t.z2)) / curve
	for j := range t.x2 {
		t.x2[j] += tau * t.x1[j]
	}
	worst := 0.0
	for i := range t.z2 {
		t.z2[i] += tau * t.z1[i]
		worst = math.Max(worst, math.Max(-t.scaledS(i), -t.w[i]*t.z2[i])/t.lambda[i])
	}
	kappa = -(products + t.kappa*tau) / t.tau
	length = math.Inf(1)
	if worst > 0 {
		length = 1 / worst
	}
	if tau < 0 {
		length = math.Min(length, -t.tau/tau)
	}
	if kappa < 0 {
		length = math.Min(length, -t.kappa/kappa)
	}
	return tau, kappa, math.Min(longestStep, math.Max(shortestStep, length))
}

func (t *iterate) scaledS(i int) float64 { return -t.ds[i]/t.lambda[i] - t.w[i]*t.z2[i] }

func (t *iterate) move(length, tau, kappa float64) {
	for j := range t.x {
		t.x[j] += length * t.x2[j]
	}
	for i := range t.z {
		t.s[i] += length * t.w[i] * t.scaledS(i)
		t.z[i] += length * t.z2[i]
	}
	t.tau += length * tau
	t.kappa += length * kappa
}
