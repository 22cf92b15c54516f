package lp_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/lp"
)

// plain is the slow, obvious version of a Problem.
type plain struct {
	cols map[lp.Col][3]float64 // cost, low, up
	rows map[lp.Row][2]float64
	a    map[lp.Row]map[lp.Col]float64
}

// allCols and allRows are sorted, so that draws do not depend on a map's order.
func (t *plain) allCols() []lp.Col {
	return slices.SortedFunc(maps.Keys(t.cols), func(a, b lp.Col) int { return a.Index() - b.Index() })
}

func (t *plain) allRows() []lp.Row {
	return slices.SortedFunc(maps.Keys(t.rows), func(a, b lp.Row) int { return a.Index() - b.Index() })
}

func (t *plain) anyCol(r *rapid.T) lp.Col { return rapid.SampledFrom(t.allCols()).Draw(r, "col") }

func (t *plain) anyRow(r *rapid.T) lp.Row { return rapid.SampledFrom(t.allRows()).Draw(r, "row") }

// agree fails unless p reads as t.
func (t *plain) agree(r *rapid.T, p *lp.Problem) {
	if p.Cols() != len(t.cols) || p.Rows() != len(t.rows) {
		r.Fatalf("%d columns and %d rows, want %d and %d", p.Cols(), p.Rows(), len(t.cols), len(t.rows))
	}
	nonzeros := 0
	for c, want := range t.cols {
		got := p.Column(c.Index())
		if got.Cost != want[0] || got.Low != want[1] || got.Up != want[2] {
			r.Fatalf("column %d: %+v, want %v", c.Index(), got, want)
		}
		have := map[int]float64{}
		for k, i := range got.Rows {
			have[int(i)] = got.Values[k]
		}
		expect := map[int]float64{}
		for row, entries := range t.a {
			if v := entries[c]; v != 0 {
				expect[row.Index()] = v
				nonzeros++
			}
		}
		if d := cmp.Diff(expect, have); d != "" {
			r.Fatalf("column %d (-want +got):\n%s", c.Index(), d)
		}
	}
	if p.Nonzeros() != nonzeros {
		r.Fatalf("%d coefficients, want %d", p.Nonzeros(), nonzeros)
	}
	for row, entries := range t.a {
		var want []uint32
		for c, v := range entries {
			if v != 0 {
				want = append(want, uint32(c.Index()))
			}
		}
		slices.Sort(want)
		if got := p.RowCols(row.Index()); !slices.Equal(got, want) {
			r.Fatalf("row %d has columns %v, want %v", row.Index(), got, want)
		}
	}
}

// TestProblem_edits does random edits to a problem and to maps beside it.
func TestProblem_edits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := &lp.Problem{}
		model := &plain{map[lp.Col][3]float64{}, map[lp.Row][2]float64{}, map[lp.Row]map[lp.Col]float64{}}
		for range rapid.IntRange(1, 60).Draw(r, "edits") {
			editOnce(r, p, model)
		}
		model.agree(r, p)
	})
}

func editOnce(r *rapid.T, p *lp.Problem, model *plain) {
	number := rapid.Float64Range(-9, 9)
	kind := rapid.IntRange(0, 7).Draw(r, "kind")
	if kind >= 2 && (len(model.cols) == 0 || len(model.rows) == 0) {
		kind %= 2
	}
	must := func(err error) {
		if err != nil {
			r.Fatal(err)
		}
	}
	switch kind {
	case 0:
		var entries []lp.RowEntry
		for _, row := range model.allRows() {
			if rapid.Bool().Draw(r, "in") {
				entries = append(entries, lp.RowEntry{Row: row, Value: number.Draw(r, "a")})
			}
		}
		cost := number.Draw(r, "cost")
		c, err := p.AddCol(cost, 0, 5, entries...)
		must(err)
		model.cols[c] = [3]float64{cost, 0, 5}
		for _, e := range entries {
			model.a[e.Row][c] = e.Value
		}
	case 1:
		var entries []lp.ColEntry
		for _, c := range model.allCols() {
			if rapid.Bool().Draw(r, "in") {
				entries = append(entries, lp.ColEntry{Col: c, Value: number.Draw(r, "a")})
			}
		}
		row, err := p.AddRow(-3, 3, entries...)
		must(err)
		model.rows[row], model.a[row] = [2]float64{-3, 3}, map[lp.Col]float64{}
		for _, e := range entries {
			model.a[row][e.Col] = e.Value
		}
	case 2:
		c := model.anyCol(r)
		must(p.RemoveCols(c))
		delete(model.cols, c)
		for _, entries := range model.a {
			delete(entries, c)
		}
		if err := p.RemoveCols(c); !errors.Is(err, lp.ErrRemoved) {
			r.Fatalf("second removal: %v, want ErrRemoved", err)
		}
	case 3:
		row := model.anyRow(r)
		must(p.RemoveRow(row))
		delete(model.rows, row)
		delete(model.a, row)
		if err := p.RemoveRow(row); !errors.Is(err, lp.ErrRemoved) {
			r.Fatalf("second removal: %v, want ErrRemoved", err)
		}
	case 4, 5:
		c, row, v := model.anyCol(r), model.anyRow(r), number.Draw(r, "a")
		if kind == 5 {
			v = 0
		}
		must(p.SetCoefficient(row, c, v))
		model.a[row][c] = v
	case 6:
		c, v := model.anyCol(r), number.Draw(r, "cost")
		must(p.SetCost(c, v))
		model.cols[c] = [3]float64{v, model.cols[c][1], model.cols[c][2]}
	case 7:
		c := model.anyCol(r)
		must(p.SetBounds(c, -1, lp.Inf))
		model.cols[c] = [3]float64{model.cols[c][0], -1, lp.Inf}
	}
}

func TestProblem_refuses(t *testing.T) {
	p := &lp.Problem{}
	r, err := p.AddRow(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.AddCol(1, 0, 1, lp.RowEntry{Row: r, Value: 1})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for want, edit := range map[string]func() error{
		"column: cost NaN, want finite":               func() error { _, err := p.AddCol(nan, 0, 1); return err },
		"column: cost +Inf, want finite":              func() error { _, err := p.AddCol(lp.Inf, 0, 1); return err },
		"column: row 0: coefficient NaN, want finite": func() error { _, err := p.AddCol(1, 0, 1, lp.RowEntry{Row: r, Value: nan}); return err },
		"column: row 0: two coefficients, want one": func() error {
			_, err := p.AddCol(1, 0, 1, lp.RowEntry{Row: r, Value: 1}, lp.RowEntry{Row: r, Value: 2})
			return err
		},
		"column 0: range 2 to 1, want the first at most the second": func() error { return p.SetBounds(c, 2, 1) },
		"row 0: range NaN to 1, want the first at most the second":  func() error { return p.SetRHS(r, nan, 1) },
		"row 0, column 0: coefficient -Inf, want finite":            func() error { return p.SetCoefficient(r, c, -lp.Inf) },
		"row: column 0: two coefficients, want one": func() error {
			_, err := p.AddRow(0, 1, lp.ColEntry{Col: c, Value: 1}, lp.ColEntry{Col: c, Value: 1})
			return err
		},
		"column 0 was removed, or is not of this problem": func() error { return p.SetCost(lp.Col{}, 1) },
		"row 0 was removed, or is not of this problem":    func() error { return p.SetRHS(lp.Row{}, 0, 1) },
	} {
		if err := edit(); err == nil || err.Error() != want {
			t.Errorf("error %q, want %q", fmt.Sprint(err), want)
		}
	}
}

// The diet of two foods: minimise 3x + 2y, x + y >= 4, x + 3y >= 6, 0 <= x, 0 <= y <= 3.
// The optimum is x = 1, y = 3: 9, with duals 3 and 0 and the bound of y at -1.
func TestBound(t *testing.T) {
	p := &lp.Problem{}
	a, _ := p.AddRow(4, lp.Inf)
	b, _ := p.AddRow(6, lp.Inf)
	_, _ = p.AddCol(3, 0, lp.Inf, lp.RowEntry{Row: a, Value: 1}, lp.RowEntry{Row: b, Value: 1})
	_, _ = p.AddCol(2, 0, 3, lp.RowEntry{Row: a, Value: 1}, lp.RowEntry{Row: b, Value: 3})
	s := &lp.Solution{X: []float64{1, 3}, Y: []float64{3, 0}}
	lp.Grade(p, s)
	if s.Objective != 9 || s.Bound != 9 || s.Gap != 0 || s.PrimalResidual != 0 || s.DualResidual != 0 {
		t.Errorf("got %+v, want objective and bound 9", s)
	}
	s = &lp.Solution{X: []float64{2, 2}, Y: []float64{1, 0.5}}
	lp.Grade(p, s)
	if s.Objective != 10 || s.Bound != 5.5 {
		t.Errorf("objective %v bound %v, want 10 and 1*4 + 0.5*6 - 0.5*3", s.Objective, s.Bound)
	}
}
