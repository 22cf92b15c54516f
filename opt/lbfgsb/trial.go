package lbfgsb

import "math"

// The first three are from the authors' code. Source: Moré and Thuente §2-4.
const (
	sufficient = 1e-3 // μ: share of the slope by which f must fall
	curvature  = 0.9  // η: share of the slope that may be left
	narrow     = 0.1  // relative width of a final bracket
	grow       = 4.0  // most extrapolation without a bracket
	growLeast  = 1.1
	shrink     = 0.66 // of the bracket in two trials
)

type sample struct{ step, f, d float64 }

// A trial chooses steps along a line until one satisfies
//
//	φ(α) ≤ φ(0) + μ α φ'(0)  and  |φ'(α)| ≤ η |φ'(0)|,
//
// or the bracket is too narrow. Invariant: if bracketed, a step between best and other satisfies
// the first condition and has slope 0 in the auxiliary function ψ(α) = φ(α) − φ(0) − μ α φ'(0).
// Source: Moré and Thuente §2-4.
type trial struct {
	step        float64 // next
	longest     float64
	start       sample
	best, other sample
	low, high   float64
	width, last float64 // of the bracket, now and before
	bracketed   bool
	settled     bool // ψ ≤ 0 and φ' ≥ μφ'(0) occurred: φ is fitted
}

func begin(value, slope, first, longest float64) trial {
	at := sample{0, value, slope}
	return trial{
		step: first, longest: longest, start: at, best: at, other: at,
		high: first + grow*first, width: longest, last: 2 * longest,
	}
}

func (t *trial) next(f, d float64) bool {
	here := sample{t.step, f, d}
	fall := sufficient * t.start.d
	below := f <= t.start.f+t.step*fall
	t.settled = t.settled || below && d >= fall
	switch {
	case below && math.Abs(d) <= -curvature*t.start.d:
		return true
	case t.cornered():
		return true
	case t.step == t.longest && below && d <= fall:
		return true
	}
	if !t.settled && f <= t.best.f && !below {
		t.best, t.other, here = t.best.tilt(-fall), t.other.tilt(-fall), here.tilt(-fall)
		t.choose(here)
		t.best, t.other = t.best.tilt(fall), t.other.tilt(fall)
	} else {
		t.choose(here)
	}
	t.restrain()
	return false
}

func (s sample) tilt(slope float64) sample {
	return sample{s.step, s.f + s.step*slope, s.d + slope}
}

func (t *trial) cornered() bool {
	return t.bracketed && (t.step <= t.low || t.step >= t.high || t.high-t.low <= narrow*t.high)
}

func (t *trial) restrain() {
	if t.bracketed {
		gap := math.Abs(t.other.step - t.best.step)
		if gap >= shrink*t.last {
			t.step = t.best.step + (t.other.step-t.best.step)/2
		}
		t.last, t.width = t.width, gap
		t.low, t.high = min(t.best.step, t.other.step), max(t.best.step, t.other.step)
	} else {
		t.low = t.step + growLeast*(t.step-t.best.step)
		t.high = t.step + grow*(t.step-t.best.step)
	}
	t.step = min(max(t.step, 0), t.longest)
	if t.cornered() {
		t.step = t.best.step
	}
}

// choose brackets, and sets step to the minimiser of a cubic or a parabola.
// Source: Moré and Thuente §4.
func (t *trial) choose(p sample) {
	x, turned := t.best, math.Signbit(p.d) != math.Signbit(t.best.d) && p.d != 0 && t.best.d != 0
	switch {
	case p.f > x.f: // higher: a minimum is between
		c, q := cubic(x, p), parabola(x, p)
		t.step = c
		if math.Abs(c-x.step) >= math.Abs(q-x.step) {
			t.step = c + (q-c)/2
		}
		t.bracketed = true
	case turned: // lower, beyond the minimum
		t.step = farther(p, cubic(p, x), secant(x, p))
		t.bracketed = true
	case math.Abs(p.d) < math.Abs(x.d): // lower and flatter
		t.step = t.flatter(x, p)
	case t.bracketed: // lower and not flatter
		t.step = cubic(p, t.other)
	case p.step > x.step:
		t.step = t.high
	default:
		t.step = t.low
	}
	switch {
	case p.f > x.f:
		t.other = p
		return
	case turned:
		t.other = x
	}
	t.best = p
}

func (t *trial) flatter(x, p sample) float64 {
	c, ok := cubicBeyond(x, p)
	if !ok && p.step > x.step {
		c = t.high
	} else if !ok {
		c = t.low
	}
	q := secant(x, p)
	if !t.bracketed {
		return min(max(farther(p, c, q), t.low), t.high)
	}
	step := nearer(p, c, q)
	most := p.step + shrink*(t.other.step-p.step)
	if p.step > x.step {
		return min(most, step)
	}
	return max(most, step)
}

func nearer(p sample, c, q float64) float64 {
	if math.Abs(c-p.step) < math.Abs(q-p.step) {
		return c
	}
	return q
}

func farther(p sample, c, q float64) float64 {
	if math.Abs(c-p.step) > math.Abs(q-p.step) {
		return c
	}
	return q
}

func terms(a, b sample) (theta, scale, discriminant float64) {
	theta = 3*(a.f-b.f)/(b.step-a.step) + a.d + b.d
	scale = max(math.Abs(theta), math.Abs(a.d), math.Abs(b.d))
	t := theta / scale
	return theta, scale, t*t - (a.d/scale)*(b.d/scale)
}

func cubic(a, b sample) float64 {
	theta, scale, disc := terms(a, b)
	gamma := scale * math.Sqrt(disc)
	if b.step < a.step {
		gamma = -gamma
	}
	r := ((gamma - a.d) + theta) / (((gamma - a.d) + gamma) + b.d)
	return a.step + r*(b.step-a.step)
}

// cubicBeyond returns the cubic's minimiser beyond p; false if there is none.
func cubicBeyond(x, p sample) (float64, bool) {
	theta, scale, disc := terms(x, p)
	gamma := scale * math.Sqrt(max(0, disc))
	if p.step > x.step {
		gamma = -gamma
	}
	r := ((gamma - p.d) + theta) / ((gamma + (x.d - p.d)) + gamma)
	return p.step + r*(x.step-p.step), r < 0 && gamma != 0
}

func parabola(a, b sample) float64 {
	h := b.step - a.step
	return a.step + a.d/((a.f-b.f)/h+a.d)/2*h
}

func secant(a, b sample) float64 {
	return b.step + b.d/(b.d-a.d)*(a.step-b.step)
}
