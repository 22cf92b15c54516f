package lbfgsb

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var inf = math.Inf(1)

func rosenbrock(x, grad []float64) float64 {
	clear(grad)
	f := 0.0
	for i := range len(x) - 1 {
		e, d := x[i+1]-x[i]*x[i], 1-x[i]
		f += 100*e*e + d*d
		grad[i] -= 400*e*x[i] + 2*d
		grad[i+1] += 200 * e
	}
	return f
}

func beale(v, grad []float64) float64 {
	x, y := v[0], v[1]
	clear(grad)
	f, power := 0.0, 1.0
	for k, c := range [...]float64{1.5, 2.25, 2.625} {
		before := power
		power *= y
		e := c - x*(1-power)
		f += e * e
		grad[0] -= 2 * e * (1 - power)
		grad[1] += 2 * e * x * float64(k+1) * before
	}
	return f
}

// chained is the problem that the authors distribute with their code.
func chained(x, grad []float64) float64 {
	clear(grad)
	f := (x[0] - 1) * (x[0] - 1)
	grad[0] = 2 * (x[0] - 1)
	for i := 1; i < len(x); i++ {
		e := x[i] - x[i-1]*x[i-1]
		f += 4 * e * e
		grad[i] += 8 * e
		grad[i-1] -= 16 * x[i-1] * e
	}
	return f
}

func repeat(n int, pattern ...float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = pattern[i%len(pattern)]
	}
	return v
}

// The counts are those of scipy 1.10.1, which runs version 3.0 of the authors'
// code, with ftol 1e-9 and gtol 1e-5: the iterates are the same.
func TestMinimize_counts_as_the_published_code(t *testing.T) {
	for _, c := range []struct {
		name             string
		f                function
		x, lower, upper  []float64
		value            float64
		iterations, used int
		status           status
	}{
		{"Rosenbrock", rosenbrock, []float64{-1.2, 1}, repeat(2, -inf), repeat(2, inf), 0, 36, 44, smallDecrease},
		{"Rosenbrock of five", rosenbrock, []float64{-1.2, 1, -1, 2, 0.5}, repeat(5, -inf), repeat(5, inf), 0, 46, 49, smallGradient},
		{"wall x at most 0.5", rosenbrock, []float64{-1.2, 1}, repeat(2, -inf), []float64{0.5, inf}, 0.25, 20, 29, smallGradient},
		{"wall y at least 1.5", rosenbrock, []float64{-1.2, 1}, []float64{-inf, 1.5}, repeat(2, inf), 4.941229317989187, 4, 6, smallGradient},
		{"every variable in a box", rosenbrock, []float64{-1.2, 1}, []float64{-1.5, -1}, []float64{0.8, 2}, 0.04, 30, 41, smallGradient},
		{"one pinned, start outside", rosenbrock, []float64{-1.2, 1, 0.7}, []float64{-inf, 0.5, -inf}, []float64{inf, 0.5, inf}, 3.149537437432529, 9, 12, smallGradient},
		{"Beale", beale, []float64{1, 1}, repeat(2, -inf), repeat(2, inf), 0, 15, 16, smallGradient},
		{"Beale in a box", beale, []float64{1, 1}, []float64{0, -4}, []float64{2.5, 4}, 0.0727000506535338, 10, 14, smallGradient},
		{"chained, half the variables at a wall", chained, repeat(25, 3), repeat(25, 1, -100), repeat(25, 100), 0, 24, 29, smallDecrease},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m minimizer
			r := m.Minimize(c.x, c.lower, c.upper, c.f, options{})
			if math.Abs(r.F-c.value) > 1e-9 {
				t.Errorf("value %g, want %g", r.F, c.value)
			}
			if r.Iterations != c.iterations || r.Evaluations != c.used || r.Status != c.status {
				t.Errorf("%d iterations, %d evaluations, %v; want %d, %d, %v",
					r.Iterations, r.Evaluations, r.Status, c.iterations, c.used, c.status)
			}
		})
	}
}

// problem is a convex quadratic x'Ax/2 − b'x in a box.
type problem struct {
	a               [][]float64
	b               []float64
	x, lower, upper []float64
}

func (p *problem) value(x, grad []float64) float64 {
	f := 0.0
	for i, row := range p.a {
		ax := dot(row, x)
		f += x[i] * (ax/2 - p.b[i])
		grad[i] = ax - p.b[i]
	}
	return f
}

func drawProblem(t *rapid.T) *problem {
	n := rapid.IntRange(1, 8).Draw(t, "n")
	entry := rapid.Float64Range(-1, 1)
	p := &problem{b: make([]float64, n), x: make([]float64, n), lower: make([]float64, n), upper: make([]float64, n)}
	root := make([][]float64, n)
	for i := range n {
		root[i], p.a = make([]float64, n), append(p.a, make([]float64, n))
		for j := range n {
			root[i][j] = entry.Draw(t, "root")
		}
		p.b[i], p.x[i] = 3*entry.Draw(t, "b"), 5*entry.Draw(t, "x")
		p.lower[i] = rapid.SampledFrom([]float64{-inf, -1, 0, 0.5}).Draw(t, "lower")
		p.upper[i] = rapid.SampledFrom([]float64{inf, 0.5, 1, p.lower[i]}).Draw(t, "upper")
		if math.IsInf(p.upper[i], -1) {
			p.upper[i] = 0
		}
	}
	for i := range n {
		p.a[i][i] = 0.1
		for j := range n {
			p.a[i][j] += dot(root[i], root[j])
		}
	}
	return p
}

// At the minimum of a convex problem, and only there, no entry of the gradient
// pulls into the box.
func TestMinimize_finds_the_minimum_of_quadratics(t *testing.T) {
	var m minimizer
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		inside := func(x, grad []float64) float64 {
			for i, v := range x {
				if !(v >= p.lower[i] && v <= p.upper[i]) {
					t.Fatalf("variable %d evaluated at %g, outside [%g, %g]", i, v, p.lower[i], p.upper[i])
				}
			}
			return p.value(x, grad)
		}
		r := m.Minimize(p.x, p.lower, p.upper, inside, options{Decrease: -1, Gradient: 1e-6})
		grad := make([]float64, len(p.x))
		if f := p.value(p.x, grad); f != r.F {
			t.Errorf("value %g at the point returned, want %g", f, r.F)
		}
		for i, g := range grad {
			to := min(max(p.x[i]-g, p.lower[i]), p.upper[i])
			if math.Abs(to-p.x[i]) > 1e-5 {
				t.Errorf("variable %d at %g in [%g, %g] has gradient %g; %+v", i, p.x[i], p.lower[i], p.upper[i], g, r)
			}
		}
	})
}

func TestMinimize_leaves_pinned_variables(t *testing.T) {
	var m minimizer
	x := []float64{7, 7, 7}
	pins := []float64{1, 2, 3}
	r := m.Minimize(x, pins, pins, rosenbrock, options{})
	if x[0] != 1 || x[1] != 2 || x[2] != 3 || r.Status != smallGradient || r.Evaluations != 1 || r.F != 201 {
		t.Errorf("got %v, %+v", x, r)
	}
}

func TestMinimize_stops_where_the_function_is_not_finite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), inf, -inf} {
		for _, c := range []struct {
			name  string
			from  int // evaluation that goes wrong
			value bool
		}{{"value at the start", 1, true}, {"gradient at the start", 1, false}, {"value later", 6, true}, {"gradient later", 6, false}} {
			var m minimizer
			calls := 0
			f := func(x, grad []float64) float64 {
				v := rosenbrock(x, grad)
				if calls++; calls < c.from {
					return v
				}
				if c.value {
					return bad
				}
				grad[1] = bad
				return v
			}
			x, grad := []float64{-1.2, 1}, make([]float64, 2)
			r := m.Minimize(x, repeat(2, -inf), repeat(2, inf), f, options{})
			if r.Status != notFinite || r.Evaluations != c.from {
				t.Errorf("%g as %s: %+v", bad, c.name, r)
			}
			if c.from > 1 && (r.F != rosenbrock(x, grad) || r.F > 24.2) {
				t.Errorf("%g as %s: value %g, want that of the last good point", bad, c.name, r.F)
			}
		}
	}
}

func TestMinimize_ends_where_it_cannot_succeed(t *testing.T) {
	kink := func(x, grad []float64) float64 {
		grad[0], grad[1] = math.Copysign(1, x[0]-1), 10*math.Copysign(1, x[1]+x[0])
		grad[0] += grad[1]
		return math.Abs(x[0]-1) + 10*math.Abs(x[1]+x[0])
	}
	uphill := func(x, grad []float64) float64 { // its gradient has the wrong sign
		f := rosenbrock(x, grad)
		for i := range grad {
			grad[i] = -grad[i]
		}
		return f
	}
	slide := func(x, grad []float64) float64 { // has no minimum
		grad[0], grad[1] = 1, 0
		return x[0]
	}
	for _, c := range []struct {
		name string
		f    function
		o    options
		want []status
	}{
		{"kinks", kink, options{}, []status{smallDecrease, noProgress}},
		{"a wrong gradient", uphill, options{}, []status{noProgress}},
		{"no minimum", slide, options{Iterations: 30, Decrease: -1}, []status{outOfIterations, notFinite}},
		{"few iterations", rosenbrock, options{Iterations: 3}, []status{outOfIterations}},
		{"few evaluations", rosenbrock, options{Evaluations: 10}, []status{outOfEvaluations}},
		{"one trial a search", rosenbrock, options{Trials: 1}, []status{noProgress}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m minimizer
			x := []float64{-1.2, 1}
			r := m.Minimize(x, repeat(2, -inf), repeat(2, inf), c.f, c.o)
			if !slices.Contains(c.want, r.Status) {
				t.Errorf("%v, want one of %v; %+v", r.Status, c.want, r)
			}
			if grad := make([]float64, 2); c.f(x, grad) != r.F {
				t.Errorf("value %g, want that of the point returned", r.F)
			}
		})
	}
}

func TestMinimize_gives_what_fresh_memory_gives(t *testing.T) {
	var kept minimizer
	for _, n := range []int{3, 8, 2, 5} {
		var fresh minimizer
		x, y := repeat(n, -1.2, 1), repeat(n, -1.2, 1)
		a := kept.Minimize(x, repeat(n, -2), repeat(n, 0.9, 3), rosenbrock, options{Pairs: n})
		b := fresh.Minimize(y, repeat(n, -2), repeat(n, 0.9, 3), rosenbrock, options{Pairs: n})
		if a != b {
			t.Errorf("%d variables: %+v, want %+v", n, a, b)
		}
	}
	x, lower, upper := repeat(5, 0), repeat(5, -2), repeat(5, 2)
	if n := testing.AllocsPerRun(5, func() {
		clear(x)
		kept.Minimize(x, lower, upper, rosenbrock, options{Pairs: 5})
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestMinimize_panics_on_mistakes(t *testing.T) {
	for want, f := range map[string]func(m *minimizer){
		lengthMismatch: func(m *minimizer) { m.Minimize(repeat(2, 0), repeat(1, 0), repeat(2, 1), rosenbrock, options{}) },
		emptyBox:       func(m *minimizer) { m.Minimize(repeat(2, 0), repeat(2, 1), repeat(2, 0), rosenbrock, options{}) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}()
			f(new(minimizer))
		}()
	}
}

// On kinks there is no theory; yet the search ends, in the box, no higher than
// it began, by line searches that fail and models that are forgotten.
func TestMinimize_survives_kinks(t *testing.T) {
	var m minimizer
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Float64Range(-2, 2)
		n := rapid.IntRange(1, 5).Draw(t, "n")
		scale, centre := make([]float64, n*n), make([]float64, n)
		for i := range scale {
			scale[i] = math.Exp(3 * entry.Draw(t, "log scale"))
		}
		x, grad := make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], centre[i] = min(1.5, entry.Draw(t, "x")), entry.Draw(t, "centre")
		}
		f := func(x, grad []float64) float64 {
			clear(grad)
			sum := 0.0
			for i := range n {
				e := 0.0
				for j := range n {
					e += scale[i*n+j] * (x[j] - centre[j])
				}
				sum += math.Abs(e)
				for j := range n {
					grad[j] += math.Copysign(scale[i*n+j], e)
				}
			}
			return sum
		}
		first := f(x, grad)
		r := m.Minimize(x, repeat(n, -2), repeat(n, inf, 1.5), f, options{Decrease: 1e-12})
		if r.Status == notFinite || r.Status == outOfEvaluations || r.Status == outOfIterations {
			t.Errorf("ended with %v", r.Status)
		}
		if r.F > first {
			t.Errorf("value %g, above %g at the start", r.F, first)
		}
		if r.F != f(x, grad) {
			t.Errorf("value %g, want that of the point returned", r.F)
		}
	})
}

func TestStatus_names(t *testing.T) {
	seen := map[string]bool{}
	for s := smallGradient; s <= notFinite; s++ {
		if name := s.String(); name == "" || seen[name] {
			t.Errorf("status %d is called %q", s, name)
		}
		seen[s.String()] = true
	}
}
