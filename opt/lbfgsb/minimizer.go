package lbfgsb

import "math"

// options are the conditions under which a search stops; 0 means the default.
type options struct {
	// Decrease stops the search when an iteration lowers f by at most this fraction of max(|f before|, |f after|,
	// 1). Default 1e-9; negative: never.
	Decrease float64
	// Gradient stops the search when no entry of the projected gradient is larger. Default 1e-5; negative: never.
	Gradient float64
	// Pairs is the number of past steps that shape the model. Default 10.
	Pairs int
	// Iterations is the limit of iterations. Default 15000.
	Iterations int
	// Evaluations is the limit of calls of f. Default 15000.
	Evaluations int
	// Trials is the limit of steps in a line search. Default 20.
	Trials int
}

func (o options) withDefaults() options {
	if o.Decrease == 0 {
		o.Decrease = 1e-9
	}
	if o.Gradient == 0 {
		o.Gradient = 1e-5
	}
	if o.Pairs <= 0 {
		o.Pairs = 10
	}
	if o.Iterations <= 0 {
		o.Iterations = 15000
	}
	if o.Evaluations <= 0 {
		o.Evaluations = 15000
	}
	if o.Trials <= 0 {
		o.Trials = 20
	}
	return o
}

// A Status is the reason why a search stopped.
type status uint8

const (
	// smallGradient means that the gradient inside the box is almost zero: a local minimum.
	smallGradient status = iota
	// smallDecrease means that an iteration lowered the function by less than options.Decrease.
	smallDecrease
	// noProgress means that no step along the steepest descent lowered the function.
	noProgress
	// outOfIterations means that the limit options.Iterations was reached.
	outOfIterations
	// outOfEvaluations means that the limit options.Evaluations was reached.
	outOfEvaluations
	// notFinite means that the function or its gradient was infinite or NaN. The result is the previous point.
	notFinite
)

var statusNames = [...]string{
	"small gradient", "small decrease", "no progress", "out of iterations", "out of evaluations", "not finite",
}

func (s status) String() string { return statusNames[s] }

// A Result is the value at which a search stopped, and why it stopped.
type result struct {
	F           float64
	Iterations  int
	Evaluations int
	Status      status
}

// A Func is a function to minimise: it returns its value at x and writes its gradient to grad. It must not keep
// the slices or change x.
type function func(x, grad []float64) float64

// A Minimizer runs searches and reuses their memory. The zero value is ready to use.
type minimizer struct {
	n            int
	f            function
	o            options
	lower, upper []float64
	constrained  bool
	boxed        bool

	x, grad   []float64
	value     float64
	evaluated int
	iteration int

	hessian hessian
	free    []bool    // not held at a wall
	target  []float64 // Cauchy point, then minimiser in the box
	dir     []float64
	trial   []float64
	slope   []float64
	work    [3][]float64
	index   []int
	factor  []float64
}

const (
	lengthMismatch = "lbfgsb: x, lower and upper differ in length"
	emptyBox       = "lbfgsb: a lower bound exceeds its upper bound"
)

const epsilon = 0x1p-52

// Minimize searches from x for a local minimum of f between lower and upper, and writes it to x. f must be continuously
// differentiable; it is called only inside this box. Minimize panics if lengths differ or the box is empty.
func (m *minimizer) Minimize(x, lower, upper []float64, f function, o options) result {
	if len(x) != len(lower) || len(x) != len(upper) {
		panic(lengthMismatch)
	}
	m.start(x, lower, upper, o.withDefaults())
	m.f = f
	status := m.run()
	copy(x, m.x)
	m.f, m.lower, m.upper = nil, nil, nil
	return result{F: m.value, Iterations: m.iteration, Evaluations: m.evaluated, Status: status}
}

func (m *minimizer) start(x, lower, upper []float64, o options) {
	m.o, m.lower, m.upper = o, lower, upper
	m.evaluated, m.iteration = 0, 0
	m.size(len(x))
	m.hessian.reset(len(x), o.Pairs)
	m.constrained, m.boxed = false, true
	for i := range x {
		if lower[i] > upper[i] {
			panic(emptyBox)
		}
		m.constrained = m.constrained || !math.IsInf(lower[i], -1) || !math.IsInf(upper[i], 1)
		m.boxed = m.boxed && !math.IsInf(lower[i], -1) && !math.IsInf(upper[i], 1)
		m.x[i] = m.clamp(i, x[i])
	}
}

func (m *minimizer) size(n int) {
	if n == m.n && m.x != nil {
		return
	}
	m.n = n
	for _, v := range [...]*[]float64{&m.x, &m.grad, &m.target, &m.dir, &m.trial, &m.slope, &m.work[0], &m.work[1], &m.work[2]} {
		*v = resize(*v, n)
	}
	m.factor = resize(m.factor, n*n)
	if cap(m.free) < n {
		m.free, m.index = make([]bool, n), make([]int, n)
	}
	m.free, m.index = m.free[:n], m.index[:n]
}

func resize(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

func (m *minimizer) clamp(i int, x float64) float64 {
	return min(max(x, m.lower[i]), m.upper[i])
}

func (m *minimizer) run() status {
	m.value = m.evaluate(m.x, m.grad)
	if !finite(m.value, m.grad) {
		return notFinite
	}
	if m.projectedGradient() <= m.o.Gradient {
		return smallGradient
	}
	for {
		m.cauchy()
		if !m.subspace() {
			m.hessian.forget()
			continue
		}
		before := m.value
		switch m.search() {
		case broken:
			return notFinite
		case failed:
			if m.hessian.count == 0 {
				return noProgress
			}
			m.hessian.forget()
			continue
		case found:
		}
		if status, done := m.done(before); done {
			return status
		}
	}
}

func (m *minimizer) done(before float64) (status, bool) {
	m.iteration++
	switch {
	case m.projectedGradient() <= m.o.Gradient:
		return smallGradient, true
	case before-m.value <= m.o.Decrease*max(math.Abs(before), math.Abs(m.value), 1):
		return smallDecrease, true
	case m.iteration >= m.o.Iterations:
		return outOfIterations, true
	case m.evaluated >= m.o.Evaluations:
		return outOfEvaluations, true
	}
	return 0, false
}

func (m *minimizer) evaluate(x, grad []float64) float64 {
	m.evaluated++
	return m.f(x, grad)
}

func finite(value float64, grad []float64) bool {
	sum := value * 0
	for _, g := range grad {
		sum += g * 0
	}
	return sum == 0
}

func (m *minimizer) projectedGradient() float64 {
	norm := 0.0
	for i, x := range m.x {
		norm = max(norm, math.Abs(m.clamp(i, x-m.grad[i])-x))
	}
	return norm
}

func dot(a, b []float64) float64 {
	sum := 0.0
	b = b[:len(a)]
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
