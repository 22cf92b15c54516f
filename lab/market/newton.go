package market

import "math"

type newton struct {
	p            *program
	matrix       *skyline
	change       []float64 // of prices
	probe, whole *iterate  // the step towards mu = 0, and the final one
}

func newNewton(p *program) *newton {
	cols, rows := len(p.cols), len(p.side)
	return &newton{
		p: p, matrix: newSkyline(p), change: make([]float64, rows),
		probe: newIterate(cols, rows), whole: newIterate(cols, rows),
	}
}

// nearest is the share of its target that every product keeps, because the next step would be short.
const nearest = 1e-3

// step moves towards the centre of a smaller mu (Mehrotra's predictor and corrector), or else of the present one.
// The length of the step to mu = 0 decides how much smaller. It returns false if rounding exceeds the gain.
func (n *newton) step(t *iterate) bool {
	if !n.factor(t) {
		return false
	}
	mu := n.p.mean(t)
	n.direction(t, n.probe, 0, nil)
	smaller := math.Pow(1-t.longest(n.probe), 3)
	n.direction(t, n.whole, mu*math.Max(1e-3, smaller), n.probe)
	if n.move(t, 0.1) {
		return true
	}
	n.direction(t, n.whole, mu, nil)
	return n.move(t, 1e-10)
}

// move goes the longest halved fraction, at least least, that keeps all products central.
func (n *newton) move(t *iterate, least float64) bool {
	for length := math.Min(1, 0.99*t.longest(n.whole)); length >= least; length /= 2 {
		if next := t.plus(n.whole, length); n.p.centre(next) {
			*t = *next
			return true
		}
	}
	return false
}

func (p *program) centre(t *iterate) bool {
	mu := p.mean(t)
	for k := range t.y {
		if !(t.y[k]*t.s[k] >= nearest*mu) {
			return false
		}
	}
	for i := range t.w {
		if !(t.w[i]*t.z[i] >= nearest*p.target(i, mu)) {
			return false
		}
	}
	return true
}

func (p *program) mean(t *iterate) float64 {
	total, n := 0.0, len(t.y)
	for k := range t.y {
		total += t.y[k] * t.s[k]
	}
	for i := range t.w {
		if p.weight[i] == 0 {
			total += t.w[i] * t.z[i]
			n++
		}
	}
	return total / float64(n)
}

// factor factorises E D E' + diag(w/z), D = y/s.
func (n *newton) factor(t *iterate) bool {
	n.matrix.clear()
	for i := range t.w {
		n.matrix.add(i, i, t.w[i]/t.z[i])
	}
	for k, col := range n.p.cols {
		d := t.y[k] / t.s[k]
		for _, a := range col {
			for _, b := range col {
				if a.row >= b.row {
					n.matrix.add(a.row, b.row, d*a.value*b.value)
				}
			}
		}
	}
	return n.matrix.factor()
}

// direction solves for the step d to the centre of mu, with the products of the probe's changes. Unknowns are the
// changes of z.
func (n *newton) direction(t, d *iterate, mu float64, probe *iterate) {
	for i := range t.w {
		d.z[i] = 0
		d.w[i] = (n.p.target(i, mu) - t.w[i]*t.z[i] - product(probe, false, i)) / t.z[i]
	}
	for k, col := range n.p.cols {
		d.s[k] = price(col, t.z) - t.s[k]
		d.y[k] = (mu-t.y[k]*t.s[k]-product(probe, true, k))/t.s[k] - t.y[k]/t.s[k]*d.s[k]
	}
	left := n.p.slack(t)
	for range 3 {
		n.correct(t, d, left)
	}
}

// correct changes the prices of step d, and what follows, to cancel the residual. Repetition reduces rounding
// errors near the end. It adds to y, because recomputing would multiply a price's error by y/s, which can exceed
// the gap.
func (n *newton) correct(t, d *iterate, left []float64) {
	a, change := n.p.activity(d.y), n.change
	for i := range change {
		change[i] = a[i] + d.w[i] - left[i]
	}
	n.matrix.solve(change)
	for i, z := range change {
		d.z[i] += z
		d.w[i] -= t.w[i] / t.z[i] * z
	}
	for k, col := range n.p.cols {
		s := price(col, change)
		d.s[k] += s
		d.y[k] -= t.y[k] / t.s[k] * s
	}
}

func product(probe *iterate, column bool, at int) float64 {
	switch {
	case probe == nil:
		return 0
	case column:
		return probe.y[at] * probe.s[at]
	default:
		return probe.w[at] * probe.z[at]
	}
}

// longest returns the length, at most 1, at which a number of t becomes 0.
func (t *iterate) longest(d *iterate) float64 {
	length := 1.0
	for _, pair := range [][2][]float64{{t.y, d.y}, {t.s, d.s}, {t.w, d.w}, {t.z, d.z}} {
		for k, v := range pair[1] {
			if v < 0 {
				length = math.Min(length, -pair[0][k]/v)
			}
		}
	}
	return length
}

func (t *iterate) plus(d *iterate, length float64) *iterate {
	sum := newIterate(len(t.y), len(t.w))
	add := func(to, from, change []float64) {
		for k := range to {
			to[k] = from[k] + length*change[k]
		}
	}
	add(sum.y, t.y, d.y)
	add(sum.s, t.s, d.s)
	add(sum.w, t.w, d.w)
	add(sum.z, t.z, d.z)
	return sum
}
