package gavel

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/lp"
)

var inf = math.Inf(1)

func TestAssign(t *testing.T) {
	tests := []struct {
		name  string
		cost  [][]float64
		want  []int
		total float64
	}{
		{"nothing", nil, []int{}, 0},
		{"the greedy choice is dear", [][]float64{{1, 2}, {1, 9}}, []int{1, 0}, 3},
		{"columns to spare", [][]float64{{5, 3, 4}, {9, 2, 8}}, []int{2, 1}, 6},
		{"negative", [][]float64{{-5, 0}, {-6, -4}}, []int{0, 1}, -9},
		{"ties take the first", [][]float64{{1, 1}, {1, 1}}, []int{0, 1}, 2},
		{"forbidden pairs", [][]float64{{1, 7}, {2, inf}}, []int{1, 0}, 9},
		{"no column is left", [][]float64{{1, inf}, {2, inf}}, []int{0, -1}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, total := assign(test.cost)
			if d := cmp.Diff(test.want, got); d != "" || total != test.total {
				t.Errorf("total %g, want %g; columns -want +got\n%s", total, test.total, d)
			}
		})
	}
}

func TestAssign_panics_on_what_is_no_cost(t *testing.T) {
	for name, cost := range map[string][][]float64{
		"too many rows": {{1}, {2}}, "ragged": {{1, 2}, {1}}, "NaN": {{math.NaN()}}, "-Inf": {{-inf}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			assign(cost)
		})
	}
}

// drawCosts draws small whole costs, so that ties are frequent and sums exact.
func drawCosts(t *rapid.T, most int, forbid bool) [][]float64 {
	n := rapid.IntRange(1, most).Draw(t, "rows")
	m := rapid.IntRange(n, most+2).Draw(t, "columns")
	cost := make([][]float64, n)
	for i := range cost {
		for range m {
			c := float64(rapid.IntRange(-3, 9).Draw(t, "cost"))
			if forbid && c == 9 {
				c = inf
			}
			cost[i] = append(cost[i], c)
		}
	}
	return cost
}

// best tries every assignment of the rows from i on.
func best(cost [][]float64, i int, used []bool) float64 {
	if i == len(cost) {
		return 0
	}
	least := inf
	for j, c := range cost[i] {
		if !used[j] {
			used[j] = true
			least = math.Min(least, c+best(cost, i+1, used))
			used[j] = false
		}
	}
	return least
}

func TestAssign_is_as_good_as_the_best_of_all(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cost := drawCosts(t, 5, true)
		want := best(cost, 0, make([]bool, len(cost[0])))
		columns, total := assign(cost)
		seen, sum, all := make([]bool, len(cost[0])), 0.0, true
		for i, j := range columns {
			if j < 0 {
				all = false
				continue
			}
			if seen[j] {
				t.Fatalf("column %d twice in %v", j, columns)
			}
			seen[j], sum = true, sum+cost[i][j]
		}
		if all != !math.IsInf(want, 1) || all && total != want || sum != total {
			t.Fatalf("%v cost %g, said to be %g, want %g", columns, sum, total, want)
		}
	})
}

// The relaxation of an assignment has whole optima.
func TestAssign_agrees_with_the_linear_program(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cost := drawCosts(t, 8, false)
		var p lp.Problem
		rows, cols := make([]lp.Row, len(cost)), make([]lp.Row, len(cost[0]))
		for i := range rows {
			rows[i] = addRow(t, &p, 1, 1)
		}
		for j := range cols {
			cols[j] = addRow(t, &p, 0, 1)
		}
		for i := range cost {
			for j, c := range cost[i] {
				if _, err := p.AddCol(c, 0, 1, lp.RowEntry{Row: rows[i], Value: 1}, lp.RowEntry{Row: cols[j], Value: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
		o := copter.DefaultOptions()
		o.Primal, o.Dual, o.Gap = 1e-7, 1e-7, 1e-7
		solver, err := copter.New(o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := solver.Solve(context.Background(), &p)
		if err != nil {
			t.Fatal(err)
		}
		if _, total := assign(cost); got.Status != lp.Optimal || math.Abs(got.Objective-total) > 1e-4 {
			t.Fatalf("assignment %g, linear program %v %g", total, got.Status, got.Objective)
		}
	})
}

func addRow(t *rapid.T, p *lp.Problem, low, up float64) lp.Row {
	r, err := p.AddRow(low, up)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func BenchmarkAssign(b *testing.B) {
	cost := make([][]float64, 256)
	x := uint32(1)
	for i := range cost {
		for range 1024 {
			x = x*1664525 + 1013904223
			cost[i] = append(cost[i], float64(x>>16))
		}
	}
	for b.Loop() {
		assign(cost)
	}
}
