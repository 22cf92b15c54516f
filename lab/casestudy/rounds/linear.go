package rounds

import (
	"context"
	"math"

	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// A Linear is the linear relaxation of the problem of a round. It has a row for each job and GPU type, and a column for
// each pair of a job and a configuration. If Solver is set, it is an Engine.
type linearProgram struct {
	Problem *lp.Problem
	Solver  lp.Solver
	// Integral requires integers in the columns of jobs that are added from then on.
	Integral bool
	// Before, if not nil, is called before each solve.
	Before func()

	configs []config
	types   []lp.Row
	jobs    map[job]*linearJob
	entries [2]lp.RowEntry
}

type linearJob struct {
	row  lp.Row
	cols []lp.Col // by configuration
}

// newLinearProgram returns a relaxation that has no jobs yet.
func newLinearProgram(q question) (*linearProgram, error) {
	f := &linearProgram{Problem: &lp.Problem{}, configs: q.Configs, jobs: map[job]*linearJob{}}
	for _, n := range q.Capacity {
		r, err := f.Problem.AddRow(math.Inf(-1), float64(n))
		if err != nil {
			return nil, err
		}
		f.types = append(f.types, r)
	}
	return f, nil
}

// Remove implements Engine.
func (f *linearProgram) Remove(id job) error {
	j := f.jobs[id]
	delete(f.jobs, id)
	if err := f.Problem.RemoveCols(j.cols...); err != nil {
		return err
	}
	return f.Problem.RemoveRow(j.row)
}

// Set implements Engine.
func (f *linearProgram) Set(id job, r row) error {
	r.Restart.Apply(r.Values)
	j := f.jobs[id]
	if j == nil {
		return f.add(id, r.Values)
	}
	for c, v := range r.Values {
		if err := f.Problem.SetCost(j.cols[c], -v); err != nil {
			return err
		}
	}
	return nil
}

func (f *linearProgram) add(id job, values []float64) (err error) {
	j := &linearJob{cols: make([]lp.Col, len(values))}
	if j.row, err = f.Problem.AddRow(math.Inf(-1), 1); err != nil {
		return err
	}
	f.entries[0] = lp.RowEntry{Row: j.row, Value: 1}
	for c, v := range values {
		f.entries[1] = lp.RowEntry{Row: f.types[f.configs[c].Type], Value: float64(f.configs[c].GPUs)}
		if j.cols[c], err = f.Problem.AddCol(-v, 0, lp.Inf, f.entries[:]...); err != nil {
			return err
		}
		if f.Integral {
			if err := f.Problem.SetInteger(j.cols[c], true); err != nil {
				return err
			}
		}
	}
	f.jobs[id] = j
	return nil
}

// Solve implements Engine.
func (f *linearProgram) Solve(ctx context.Context) (*answer, error) {
	if f.Before != nil {
		f.Before()
	}
	s, err := f.Solver.Solve(ctx, f.Problem)
	if err != nil {
		return nil, err
	}
	a := &answer{
		Weights: func(id job, dst []weight) []weight { return f.weights(id, s.X, dst) },
		Bound:   -s.Bound, Fractional: -1, Violation: s.PrimalResidual,
		Status: s.Status.String(), Iterations: s.Iterations,
	}
	if s.Y != nil {
		a.Prove = func() (bound, violation float64) { return -lp.Bound(f.Problem, s.Y), lp.PrimalResidual(f.Problem, s.X) }
	}
	return a, nil
}

func (f *linearProgram) weights(id job, x []float64, dst []weight) []weight {
	for c, col := range f.jobs[id].cols {
		if v := x[col.Index()]; v > engine.Tiny {
			dst = append(dst, weight{Choice: c, X: min(v, 1)})
		}
	}
	return dst
}

func apply(to roundEngine, g *jobGenerator, e edits) error {
	for _, id := range e.Left {
		if err := to.Remove(id); err != nil {
			return err
		}
	}
	var values []float64
	for k, jobs := range [][]job{e.Restarted, e.Refitted, e.Arrived} {
		for _, id := range jobs {
			values = g.Values(id, values)
			if err := to.Set(id, row{Values: values, Restart: g.Restart(id), News: k > 0}); err != nil {
				return err
			}
		}
	}
	return nil
}

type price struct {
	engine  engine.Engine
	numbers map[job]int
	free    []int
	item    mmkp.Item // reused
}

func newPrice(q question) (roundEngine, error) {
	e := &price{numbers: map[job]int{}, item: mmkp.Item{Choices: make([]mmkp.Choice, len(q.Configs))}}
	for j, c := range q.Configs {
		e.item.Choices[j].Use = mmkp.Use{Resource: c.Type, Amount: float64(c.GPUs)}
	}
	capacity := make([]float64, len(q.Capacity))
	for k, n := range q.Capacity {
		capacity[k] = float64(n)
	}
	var err error
	e.engine, err = engine.New("price", capacity, engine.Options{})
	return e, err
}

func (e *price) Set(id job, r row) error {
	number, known := e.numbers[id]
	kept := r.Restart.Kept
	adjustment := mmkp.Adjustment{Base: r.Restart.Base, Factor: r.Restart.Factor, Kept: kept, KeptFactor: 1}
	if known && !r.News && e.engine.Adjust(number, adjustment) == nil {
		return nil
	}
	if !known {
		number = e.number()
		e.numbers[id] = number
	}
	for j, v := range r.Values {
		e.item.Choices[j].Value = v
	}
	e.item.Keep = max(0, kept)
	if err := e.engine.Set(number, e.item); err != nil {
		return err
	}
	return e.engine.Adjust(number, adjustment)
}

func (e *price) number() int {
	if n := len(e.free); n > 0 {
		number := e.free[n-1]
		e.free = e.free[:n-1]
		return number
	}
	return len(e.numbers)
}

func (e *price) Remove(id job) error {
	number := e.numbers[id]
	delete(e.numbers, id)
	e.free = append(e.free, number)
	return e.engine.Remove(number)
}

func (e *price) Solve(ctx context.Context) (*answer, error) {
	s, err := e.engine.Solve(ctx)
	if err != nil {
		return nil, err
	}
	return &answer{
		Weights: func(id job, dst []weight) []weight {
			if c := s.Pick[e.numbers[id]]; c >= 0 {
				dst = append(dst, weight{Choice: c, X: 1})
			}
			return dst
		},
		Bound: s.Bound, Fractional: s.Fractional, Status: s.Status.String(), Iterations: s.Iterations,
	}, nil
}
