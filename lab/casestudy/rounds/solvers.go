package rounds

import (
	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

type origin bool

const (
	cold origin = false // from nothing
	warm origin = true
)

func newCopter(from origin) func(Question) (Engine, error) {
	return func(q Question) (Engine, error) {
		o := copter.DefaultOptions()
		o.Polish = true
		s, err := copter.New(o)
		if err != nil {
			return nil, err
		}
		f, err := NewLinear(q)
		if err != nil {
			return nil, err
		}
		f.Solver = s
		if from == cold {
			f.Before = s.Reset
		}
		return f, nil
	}
}

func linear(solver func() (lp.Solver, error)) func(Question) (Engine, error) {
	return func(q Question) (Engine, error) { return newLinear(q, solver, false) }
}

func integral(solver func() (lp.Solver, error)) func(Question) (Engine, error) {
	return func(q Question) (Engine, error) { return newLinear(q, solver, true) }
}

func newLinear(q Question, solver func() (lp.Solver, error), whole bool) (Engine, error) {
	f, err := NewLinear(q)
	if err != nil {
		return nil, err
	}
	f.Integral = whole
	f.Solver, err = solver()
	return f, err
}

func simplex() (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Method, o.Tolerance = exact.Simplex, 1e-7
	return exact.New(o)
}

func interior() (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Method, o.Tolerance = exact.InteriorPoint, 1e-7
	return exact.New(o)
}

func branchAndCut() (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Tolerance, o.MIPGap = 1e-7, 1e-4
	return exact.New(o)
}
