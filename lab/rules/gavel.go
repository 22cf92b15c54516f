// This file reproduces the solver of Gavel's public code, to replay its runs.

package rules

import (
	"github.com/oxgang/oxgang/opt/barrier"
)

// SolveGavel solves a linear program of Gavel exactly like Gavel's public code. It maximises the smallest gain of a job
// if level is true, and the sum of gains otherwise. If throughputs differ so much that the method does not converge,
// Feasible of the solution is false.
func SolveGavel(g *barrier.Program, level bool) *barrier.Solution {
	f := newForm(g)
	if level {
		f.program.Cost = append(f.program.Cost, -1)
		f.needs(len(f.program.Cost) - 1)
	} else {
		f.needs(-1)
	}
	return f.solve()
}

type form struct {
	g       *barrier.Program
	program program
	first   []int // of each job
	cols    []cell
}

type cell struct{ i, t int }

func newForm(g *barrier.Program) *form {
	f := &form{g: g, first: make([]int, len(g.Items))}
	caps := make([]row, len(g.Capacity))
	for t, c := range g.Capacity {
		caps[t].Right = c
	}
	for i := range g.Items {
		it := &g.Items[i]
		f.first[i] = len(f.cols)
		all := row{Right: 1}
		for t, size := range it.Size {
			if size == 0 || g.Capacity[t] == 0 {
				continue
			}
			j := len(f.cols)
			f.cols = append(f.cols, cell{i, t})
			cost := 0.0
			if it.Gain != nil {
				cost = -it.Gain[t]
			}
			f.program.Cost = append(f.program.Cost, cost)
			f.add(row{Cols: []int{j}, Values: []float64{-1}})
			all.Cols, all.Values = append(all.Cols, j), append(all.Values, 1)
			caps[t].Cols, caps[t].Values = append(caps[t].Cols, j), append(caps[t].Values, size)
		}
		f.add(all)
	}
	for _, row := range caps {
		f.add(row)
	}
	return f
}

func (f *form) add(r row) {
	if len(r.Cols) > 0 {
		f.program.Rows = append(f.program.Rows, r)
	}
}

func (f *form) needs(level int) {
	for i := range f.g.Items {
		it := &f.g.Items[i]
		if it.Least == 0 {
			continue
		}
		row := row{Right: -it.Least}
		for j := f.first[i]; j < len(f.cols) && f.cols[j].i == i; j++ {
			row.Cols, row.Values = append(row.Cols, j), append(row.Values, -it.Rate[f.cols[j].t])
		}
		if level >= 0 {
			for k := range row.Values {
				row.Values[k] /= it.Least
			}
			row.Right, row.Cols, row.Values = 0, append(row.Cols, level), append(row.Values, 1)
		}
		f.add(row)
	}
}

func (f *form) solve() *barrier.Solution {
	s := solve(&f.program)
	out := &barrier.Solution{Objective: -s.Objective, Bound: -s.Bound, Iterations: s.Iterations, Feasible: s.Converged, Converged: s.Converged}
	out.X = make([][]float64, len(f.g.Items))
	for i := range out.X {
		out.X[i] = make([]float64, len(f.g.Capacity))
	}
	for j, c := range f.cols {
		out.X[c.i][c.t] = s.X[j]
	}
	return out
}
