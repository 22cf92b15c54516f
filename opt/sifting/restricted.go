package sifting

import (
	"fmt"
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

// A restricted program has the rows of another, some of its columns, and a column for each
// side of a row that meets it at a price.
type restricted struct {
	problem lp.Problem
	cols    []int // its first columns are these of the whole program
	rows    []int // its rows
	inside  []bool
}

// restrict makes the restricted program of the columns that are in.
func restrict(p *lp.Problem, in []bool, price float64) *restricted {
	r := &restricted{inside: in}
	at := make([]lp.Row, p.RowSlots())
	outside := restActivities(p, in)
	for i := range at {
		if p.HasRow(i) {
			low, up := p.Sides(i)
			at[i] = must(r.problem.AddRow(low-outside[i], up-outside[i]))
			r.rows = append(r.rows, i)
		}
	}
	for j, chosen := range in {
		if !chosen {
			continue
		}
		c := p.Column(j)
		var entries []lp.RowEntry
		for k, i := range c.Rows {
			entries = append(entries, lp.RowEntry{Row: at[i], Value: c.Values[k]})
		}
		must(r.problem.AddCol(c.Cost, c.Low, c.Up, entries...))
		r.cols = append(r.cols, j)
	}
	for _, i := range r.rows {
		r.elastic(at[i], price)
	}
	return r
}

// elastic adds the columns that meet the sides of a row at a price.
func (r *restricted) elastic(row lp.Row, price float64) {
	low, up := r.problem.Sides(row.Index())
	if !math.IsInf(low, -1) {
		must(r.problem.AddCol(price, 0, lp.Inf, lp.RowEntry{Row: row, Value: 1}))
	}
	if !math.IsInf(up, 1) {
		must(r.problem.AddCol(price, 0, lp.Inf, lp.RowEntry{Row: row, Value: -1}))
	}
}

// restActivities returns what the columns outside add up to by row.
func restActivities(p *lp.Problem, in []bool) []float64 {
	x := make([]float64, len(in))
	for j, chosen := range in {
		if !chosen && p.HasCol(j) {
			x[j] = rest(p, j)
		}
	}
	return lp.Activities(p, x)
}

// spread returns the solution of the whole program that one of the restricted program is.
func (r *restricted) spread(p *lp.Problem, got *lp.Solution) *lp.Solution {
	out := &lp.Solution{Status: got.Status, X: make([]float64, p.ColSlots()), Y: make([]float64, p.RowSlots())}
	for j := range out.X {
		if p.HasCol(j) && !r.inside[j] {
			out.X[j] = rest(p, j)
		}
	}
	for k, j := range r.cols {
		out.X[j] = got.X[k]
	}
	for k, i := range r.rows {
		out.Y[i] = got.Y[k]
	}
	return out
}

// unmet returns the most that a row is met at a price.
func (r *restricted) unmet(got *lp.Solution) float64 {
	most := 0.0
	for _, v := range got.X[len(r.cols):] {
		most = max(most, v)
	}
	return most
}

// A worst keeps the few columns of each row whose value is least.
type worst struct {
	cols   [][joins]int // -1: none
	values [][joins]float64
}

func newWorst(rows int) *worst {
	w := &worst{make([][joins]int, rows), make([][joins]float64, rows)}
	for i := range w.cols {
		for k := range joins {
			w.cols[i][k], w.values[i][k] = -1, math.Inf(1)
		}
	}
	return w
}

// offer considers column j for row i.
func (w *worst) offer(i, j int, v float64) {
	k := joins - 1
	if v >= w.values[i][k] {
		return
	}
	for ; k > 0 && v < w.values[i][k-1]; k-- {
		w.cols[i][k], w.values[i][k] = w.cols[i][k-1], w.values[i][k-1]
	}
	w.cols[i][k], w.values[i][k] = j, v
}

// join marks the columns and returns how many were not.
func (w *worst) join(in []bool) int {
	n := 0
	for i := range w.cols {
		for _, j := range w.cols[i] {
			if j >= 0 && !in[j] {
				in[j] = true
				n++
			}
		}
	}
	return n
}

// must returns v. An error would be one of this package: what it adds comes from a
// program that is as it should be.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("sifting: %v", err))
	}
	return v
}
