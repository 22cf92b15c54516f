package rounds

import (
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

// A Linear is the linear relaxation of the rounds as an lp.Problem under edit:
// a row per job and per GPU type, a column per pair, costs the values' negatives.
// Its objective is Σ λ less what the jobs cost: the optimum's negative is the
// value of the integer program's relaxation.
type Linear struct {
	Problem *lp.Problem
	// Integral makes the columns of jobs to come integral: the program itself
	// and not its relaxation.
	Integral bool

	configs []Config
	types   []lp.Row
	jobs    map[Job]*linearJob
	entries [2]lp.RowEntry
}

type linearJob struct {
	row  lp.Row
	cols []lp.Col // by configuration
}

// NewLinear returns the program of no jobs.
func NewLinear(g *Generator) (*Linear, error) {
	f := &Linear{Problem: &lp.Problem{}, configs: g.Configs(), jobs: map[Job]*linearJob{}}
	for _, n := range g.Capacity() {
		r, err := f.Problem.AddRow(math.Inf(-1), float64(n))
		if err != nil {
			return nil, err
		}
		f.types = append(f.types, r)
	}
	return f, nil
}

// Remove takes a job out. It costs its columns.
func (f *Linear) Remove(id Job) error {
	j := f.jobs[id]
	delete(f.jobs, id)
	if err := f.Problem.RemoveCols(j.cols...); err != nil {
		return err
	}
	return f.Problem.RemoveRow(j.row)
}

// Set adds a job or gives it new values: Values with its Restart applied.
func (f *Linear) Set(id Job, values []float64) error {
	j := f.jobs[id]
	if j == nil {
		return f.add(id, values)
	}
	for c, v := range values {
		if err := f.Problem.SetCost(j.cols[c], -v); err != nil {
			return err
		}
	}
	return nil
}

func (f *Linear) add(id Job, values []float64) (err error) {
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

// Weights returns a job's part of a solution: a weight for each configuration,
// in dst's memory if it is large enough.
func (f *Linear) Weights(id Job, x, dst []float64) []float64 {
	dst = dst[:0]
	for _, c := range f.jobs[id].cols {
		dst = append(dst, x[c.Index()])
	}
	return dst
}

// Apply edits the program by a round: jobs of e that left go, the others get
// their rows from g. It is what an engine does first, and for tests; Run does
// the same with the clock stopped while g makes values.
func (f *Linear) Apply(g *Generator, e Edits) error {
	for _, id := range e.Left {
		if err := f.Remove(id); err != nil {
			return err
		}
	}
	var values []float64
	for _, jobs := range [][]Job{e.Arrived, e.Refitted, e.Restarted} {
		for _, id := range jobs {
			values = g.Values(id, values)
			g.Restart(id).Apply(values)
			if err := f.Set(id, values); err != nil {
				return err
			}
		}
	}
	return nil
}
