package lbfgsb

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// B is symmetric, positive along every step it knows, and maps the newest step
// to its gradient change.
func TestHessian_satisfies_the_secant_equation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n, pairs = 4, 3
		var h hessian
		h.reset(n, pairs)
		entry := rapid.Float64Range(0.1, 1)
		s, y, zero, bs := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for range rapid.IntRange(1, 7).Draw(t, "steps") {
			for i := range n {
				s[i] = entry.Draw(t, "s") // positive entries: y's > 0
				y[i] = entry.Draw(t, "y")
			}
			h.add(s, zero, y, dot(s, y))
		}
		h.times(s, bs)
		for i := range n {
			if math.Abs(bs[i]-y[i]) > 1e-6 {
				t.Errorf("Bs[%d] = %g, want %g", i, bs[i], y[i])
			}
			for j := range i {
				if a, b := h.row(i)[j], h.row(j)[i]; math.Abs(a-b) > 1e-6*(1+math.Abs(a)) {
					t.Errorf("B[%d][%d] = %g, B[%d][%d] = %g", i, j, a, j, i, b)
				}
			}
		}
		h.forget()
		if h.times(s, bs); bs[0] != s[0] || bs[n-1] != s[n-1] {
			t.Errorf("after forget Bs = %v, want %v", bs, s)
		}
	})
}

// lines are the first three test functions of Moré and Thuente, §5, and one
// that never rises.
var lines = map[string]func(a float64) (f, d float64){
	"5.1": func(a float64) (f, d float64) {
		const beta = 2
		q := a*a + beta
		return -a / q, (a*a - beta) / (q * q)
	},
	"5.2": func(a float64) (f, d float64) {
		const beta = 0.004
		b := a + beta
		cube := b * b * b
		return cube*b*b - 2*cube*b, 5*cube*b - 8*cube
	},
	"5.3": func(a float64) (f, d float64) {
		const beta, l = 0.01, 39
		wave := 2 * (1 - beta) / (l * math.Pi) * math.Sin(l*math.Pi/2*a)
		slope := (1 - beta) * math.Cos(l*math.Pi/2*a)
		switch {
		case a <= 1-beta:
			return 1 - a + wave, slope - 1
		case a >= 1+beta:
			return a - 1 + wave, slope + 1
		}
		return (a-1)*(a-1)/(2*beta) + beta/2 + wave, (a-1)/beta + slope
	},
	"downhill": func(a float64) (f, d float64) { return -a, -1 },
}

func TestTrial_ends_with_sufficient_decrease(t *testing.T) {
	for name, line := range lines {
		for _, first := range []float64{1e-3, 0.1, 1, 10, 1e3} {
			const longest = 1e4
			f0, d0 := line(0)
			s := begin(f0, d0, first, longest)
			trials := 0
			for done := false; !done; trials++ {
				if trials == 20 {
					t.Fatalf("%s from %g: no step in 20 trials", name, first)
				}
				if s.step < 0 || s.step > longest {
					t.Fatalf("%s from %g: trial at %g", name, first, s.step)
				}
				f, d := line(s.step)
				done = s.next(f, d)
			}
			f, d := line(s.step)
			if f > f0+sufficient*s.step*d0 {
				t.Errorf("%s from %g: value %g at %g, from %g", name, first, f, s.step, f0)
			}
			flat := math.Abs(d) <= curvature*math.Abs(d0)
			if !flat && !s.cornered() && s.step != longest {
				t.Errorf("%s from %g: slope %g at %g, from %g", name, first, d, s.step, d0)
			}
		}
	}
}

// Where the projection of the model's minimiser points uphill, the step ends
// at the first wall instead, on the way from the Cauchy point.
func TestBend_cuts_a_step_that_would_turn_uphill(t *testing.T) {
	m := minimizer{
		n: 2, lower: []float64{0, -1}, upper: []float64{inf, 1},
		x: []float64{1, 0}, grad: []float64{1, -10},
	}
	for _, c := range []struct {
		name         string
		cauchy, step []float64
		want         []float64
	}{
		{"inside", []float64{1, 0.5}, []float64{0.5, 0.25}, []float64{1.5, 0.75}},
		{"downhill after the projection", []float64{1, 0.5}, []float64{-2, 0.25}, []float64{0, 0.75}},
		{"uphill, lower wall", []float64{1, 0}, []float64{2, -2}, []float64{2, -1}},
		{"uphill, upper wall", []float64{1, 0.5}, []float64{30, 1}, []float64{16, 1}},
	} {
		m.target = append([]float64(nil), c.cauchy...)
		m.work[1] = make([]float64, 2)
		m.bend([]int{0, 1}, c.step)
		if m.target[0] != c.want[0] || m.target[1] != c.want[1] {
			t.Errorf("%s: got %v, want %v", c.name, m.target, c.want)
		}
	}
}
