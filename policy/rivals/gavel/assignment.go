package gavel

import (
	"math"

	"github.com/oxgang/oxgang/opt/barrier"
)

// assign matches every row of cost to its own column at the least sum. A cost of +Inf forbids a pair. Without a
// column left, later rows get -1. It panics if there are more rows than columns, on ragged rows, NaN or -Inf.
//
// It costs rows² times columns: each row follows the shortest path of reduced costs to a free column. Source:
// Jonker and Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
// Computing 38, 1987.
func assign(cost [][]float64) (columns []int, total float64) {
	columns = make([]int, len(cost))
	if len(cost) == 0 {
		return columns, 0
	}
	checkCosts(cost)
	m := newMatching(cost)
	for i := range cost {
		columns[i] = -1
		m.match(i)
	}
	for j, i := range m.row {
		if i >= 0 {
			columns[i] = j
			total += cost[i][j]
		}
	}
	return columns, total
}

func checkCosts(cost [][]float64) {
	if len(cost) > len(cost[0]) {
		panic("gavel: more rows than columns")
	}
	for _, row := range cost {
		if len(row) != len(cost[0]) {
			panic("gavel: rows of different lengths")
		}
		for _, c := range row {
			if math.IsNaN(c) || math.IsInf(c, -1) {
				panic("gavel: cost is NaN or -Inf")
			}
		}
	}
}

// A matching is optimal: its duals u + v are at most the cost of every pair, and equal for matched pairs.
type matching struct {
	cost [][]float64
	row  []int // of each column; -1: free
	u, v []float64
	far  []float64 // shortest path to each column
	from []int     // previous column; -1: none
	done []bool    // far is final
}

func newMatching(cost [][]float64) *matching {
	n, m := len(cost), len(cost[0])
	t := &matching{cost: cost, row: make([]int, m), u: make([]float64, n), v: make([]float64, m)}
	t.far, t.from, t.done = make([]float64, m), make([]int, m), make([]bool, m)
	for j := range t.row {
		t.row[j] = -1
	}
	return t
}

func (t *matching) match(i int) {
	end, length := t.search(i)
	if end < 0 {
		return
	}
	t.u[i] += length
	for j, done := range t.done {
		if done && j != end {
			t.u[t.row[j]] += length - t.far[j]
			t.v[j] -= length - t.far[j]
		}
	}
	for end >= 0 {
		before := t.from[end]
		if t.row[end] = i; before >= 0 {
			t.row[end] = t.row[before]
		}
		end = before
	}
}

func (t *matching) search(i int) (column int, length float64) {
	for j := range t.far {
		t.far[j], t.from[j], t.done[j] = math.Inf(1), -1, false
	}
	for at := -1; ; {
		next := t.relax(i, at, length)
		if next < 0 {
			return -1, 0
		}
		length, t.done[next] = t.far[next], true
		if t.row[next] < 0 {
			return next, length
		}
		i, at = t.row[next], next
	}
}

func (t *matching) relax(i, at int, length float64) int {
	next := -1
	for j, c := range t.cost[i] {
		if t.done[j] {
			continue
		}
		if d := length + c - t.u[i] - t.v[j]; d < t.far[j] {
			t.far[j], t.from[j] = d, at
		}
		if !math.IsInf(t.far[j], 1) && (next < 0 || t.far[j] < t.far[next] || t.far[j] == t.far[next] && t.row[next] >= 0 && t.row[j] < 0) {
			next = j
		}
	}
	return next
}

// A Solver finds the fractions of time of program g. If level is true, it maximises the smallest
// ratio of a job's rate to Item.Least, otherwise the total gain.
type Solver func(g *barrier.Program, level bool) *barrier.Solution

func (p *Policy) best(g *barrier.Program) *barrier.Solution {
	if p.o.Rules == PublicCode {
		if out := p.o.Public(g, false); out.Feasible {
			return out
		}
	}
	out := g.Best(barrier.Settings{})
	return &out
}

func (p *Policy) level(g *barrier.Program) *barrier.Solution {
	if p.o.Rules == PublicCode && p.o.Objective == MaxMin {
		if out := p.o.Public(g, true); out.Feasible {
			return out
		}
	}
	out := g.Level(barrier.Settings{})
	if !out.Feasible {
		out = g.Best(barrier.Settings{})
	}
	return &out
}
