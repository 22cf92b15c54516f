package gavel

import (
	"github.com/oxgang/oxgang/opt/barrier"
	"github.com/oxgang/oxgang/opt/selfdual"
)

// best, under PublicCode, is where the public code's solver ends on a program, in
// the form in which that code states it; see opt/selfdual. Where that does not
// converge, because throughputs differ too much, it is as under Paper.
func (p *Policy) best(g *barrier.Program) *barrier.Solution {
	if p.o.Rules == PublicCode {
		e := newEmbedded(g)
		e.needs(-1)
		if out := e.solve(); out.Feasible {
			return out
		}
	}
	out := g.Best(barrier.Settings{})
	return &out
}

// level, likewise, finds the greatest level. Where nobody needs anything there is
// only the centre.
func (p *Policy) level(g *barrier.Program) *barrier.Solution {
	if p.o.Rules == PublicCode && p.o.Objective == MaxMin {
		e := newEmbedded(g)
		e.program.Cost = append(e.program.Cost, -1)
		e.needs(len(e.program.Cost) - 1)
		if out := e.solve(); out.Feasible {
			return out
		}
	}
	out := g.Level(barrier.Settings{})
	if !out.Feasible {
		out = g.Best(barrier.Settings{})
	}
	return &out
}

// An embedded program has a column for every job and GPU type that it can run on.
type embedded struct {
	g       *barrier.Program
	program selfdual.Program
	first   []int // column of every job
	cols    []cell
}

type cell struct{ i, t int }

func newEmbedded(g *barrier.Program) *embedded {
	e := &embedded{g: g, first: make([]int, len(g.Items))}
	caps := make([]selfdual.Row, len(g.Capacity))
	for t, c := range g.Capacity {
		caps[t].Right = c
	}
	for i := range g.Items {
		it := &g.Items[i]
		e.first[i] = len(e.cols)
		all := selfdual.Row{Right: 1}
		for t, size := range it.Size {
			if size == 0 || g.Capacity[t] == 0 {
				continue
			}
			j := len(e.cols)
			e.cols = append(e.cols, cell{i, t})
			cost := 0.0
			if it.Gain != nil {
				cost = -it.Gain[t]
			}
			e.program.Cost = append(e.program.Cost, cost)
			e.add(selfdual.Row{Cols: []int{j}, Values: []float64{-1}})
			all.Cols, all.Values = append(all.Cols, j), append(all.Values, 1)
			caps[t].Cols, caps[t].Values = append(caps[t].Cols, j), append(caps[t].Values, size)
		}
		e.add(all)
	}
	for _, row := range caps {
		e.add(row)
	}
	return e
}

// add adds a row that is not empty.
func (e *embedded) add(r selfdual.Row) {
	if len(r.Cols) > 0 {
		e.program.Rows = append(e.program.Rows, r)
	}
}

// needs adds the rows of what the jobs need: times a level, if that has a column.
func (e *embedded) needs(level int) {
	for i := range e.g.Items {
		it := &e.g.Items[i]
		if it.Least == 0 {
			continue
		}
		row := selfdual.Row{Right: -it.Least}
		for j := e.first[i]; j < len(e.cols) && e.cols[j].i == i; j++ {
			row.Cols, row.Values = append(row.Cols, j), append(row.Values, -it.Rate[e.cols[j].t])
		}
		if level >= 0 {
			for k := range row.Values {
				row.Values[k] /= it.Least
			}
			row.Right, row.Cols, row.Values = 0, append(row.Cols, level), append(row.Values, 1)
		}
		e.add(row)
	}
}

// solve returns the fractions; it is not feasible where the method does not
// converge.
func (e *embedded) solve() *barrier.Solution {
	s := selfdual.Solve(&e.program, selfdual.Settings{})
	out := &barrier.Solution{Objective: -s.Objective, Bound: -s.Bound, Iterations: s.Iterations, Feasible: s.Converged, Converged: s.Converged}
	out.X = make([][]float64, len(e.g.Items))
	for i := range out.X {
		out.X[i] = make([]float64, len(e.g.Capacity))
	}
	for j, c := range e.cols {
		out.X[c.i][c.t] = s.X[j]
	}
	return out
}
