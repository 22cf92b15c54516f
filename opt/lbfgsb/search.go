package lbfgsb

import (
	"math"
)

type outcome uint8

const (
	found outcome = iota
	failed
	broken
)

const longest = 1e10

// search walks from x towards target, or changes nothing. Source: Byrd et al. §6.
func (m *minimizer) search() outcome {
	for i := range m.dir {
		m.dir[i] = m.target[i] - m.x[i]
	}
	slope := dot(m.grad, m.dir)
	if !(slope < 0) {
		return failed
	}
	first, most := m.firstStep()
	t := begin(m.value, slope, first, most)
	for range m.o.Trials {
		m.place(t.step)
		value := m.evaluate(m.trial, m.slope)
		if !finite(value, m.slope) {
			return broken
		}
		now := dot(m.slope, m.dir)
		if t.next(value, now) {
			m.accept(value, t.step, slope, now)
			return found
		}
	}
	return failed
}

func (m *minimizer) firstStep() (first, most float64) {
	most = longest
	if m.constrained && m.iteration == 0 {
		most = 1
	} else if m.constrained {
		for i, d := range m.dir {
			most = min(most, m.room(i, m.x[i], d))
		}
	}
	first = 1
	if m.iteration == 0 && !m.boxed {
		first = 1 / math.Sqrt(dot(m.dir, m.dir))
	}
	return min(first, most), most
}

func (m *minimizer) place(step float64) {
	if step == 1 {
		copy(m.trial, m.target)
		return
	}
	for i := range m.trial {
		m.trial[i] = m.clamp(i, m.x[i]+step*m.dir[i])
	}
}

// accept moves to the trial; before and after are slopes. A pair without curvature is ignored.
func (m *minimizer) accept(value, step, before, after float64) {
	ys, least := (after-before)*step, -epsilon*before*step
	if ys > least {
		for i := range m.dir {
			m.dir[i] *= step
		}
		m.hessian.add(m.dir, m.grad, m.slope, ys)
	}
	m.x, m.trial = m.trial, m.x
	m.grad, m.slope = m.slope, m.grad
	m.value = value
}

// WithTolerance returns a function that minimises f between low and high, starting from x, and writes the final point
// to x. tolerance is the limit for both options.Decrease and Options.Gradient, as in SciPy.
func WithTolerance() func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
	var m minimizer
	return func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
		m.Minimize(x, low, high, f, options{Decrease: tolerance, Gradient: tolerance})
	}
}
