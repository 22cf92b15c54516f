// Package assignment matches rows to columns at least cost.
package assignment

import "math"

// Solve matches every row of cost to a column of its own so that the sum of the
// costs is least, and returns each row's column and the sum. All rows are as long
// as the first and there are at most as many rows as columns. A cost of +Inf
// forbids a pair; rows that then find no column, those before them matched, have
// -1. It panics on rows of different lengths, more rows than columns, and NaN or
// -Inf. It modifies nothing, is deterministic, and costs rows² times columns.
//
// One row after the other is matched along the shortest path of reduced costs to
// a free column. Source: Jonker and Volgenant, "A shortest augmenting path
// algorithm for dense and sparse linear assignment problems", Computing 38, 1987.
func Solve(cost [][]float64) (columns []int, total float64) {
	columns = make([]int, len(cost))
	if len(cost) == 0 {
		return columns, 0
	}
	check(cost)
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

func check(cost [][]float64) {
	if len(cost) > len(cost[0]) {
		panic("assignment: more rows than columns")
	}
	for _, row := range cost {
		if len(row) != len(cost[0]) {
			panic("assignment: rows of different lengths")
		}
		for _, c := range row {
			if math.IsNaN(c) || math.IsInf(c, -1) {
				panic("assignment: cost is NaN or -Inf")
			}
		}
	}
}

// A matching is optimal for the rows it has, as its duals prove: u + v is at most
// the cost of every pair, and equals it where a row is matched.
type matching struct {
	cost [][]float64
	row  []int // of each column; -1: free
	u, v []float64
	far  []float64 // length of the shortest path to each column
	from []int     // the column before it on that path; -1: none
	done []bool    // it is shortest
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

// match matches row i: each column on the shortest path to a free column is given to the
// row before it on the path.
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

// search returns the free column nearest to row i, the first if several are, and
// how far it is; -1 if there is none.
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

// relax looks on from row i, reached through column at, and returns the nearest
// column that is not done, a free one if several are.
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
