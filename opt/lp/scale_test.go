package lp_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/lp"
)

// largest returns the largest scaled coefficients by row and column index; 0
// where there is none.
func largest(p *lp.Problem, rows, cols []float64) (byRow, byCol []float64) {
	byRow, byCol = make([]float64, p.RowSlots()), make([]float64, p.ColSlots())
	for j := range cols {
		at, values := p.Entries(j)
		for k, r := range at {
			size := math.Abs(values[k]) * rows[r] * cols[j]
			byRow[r], byCol[j] = max(byRow[r], size), max(byCol[j], size)
		}
	}
	return byRow, byCol
}

func TestScale_largest_of_rows_and_columns_is_about_one(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := &lp.Problem{}
		var rows []lp.Row
		for range rapid.IntRange(0, 6).Draw(r, "rows") {
			row, err := p.AddRow(0, 1)
			if err != nil {
				r.Fatal(err)
			}
			rows = append(rows, row)
		}
		for range rapid.IntRange(0, 8).Draw(r, "columns") {
			var entries []lp.RowEntry
			for _, row := range rows {
				if rapid.Bool().Draw(r, "in") {
					entries = append(entries, lp.RowEntry{Row: row, Value: math.Pow(10, float64(rapid.IntRange(-12, 12).Draw(r, "size")))})
				}
			}
			if _, err := p.AddCol(1, 0, 1, entries...); err != nil {
				r.Fatal(err)
			}
		}
		before := p.Edits()
		byRow, byCol := lp.Scale(p)
		if p.Edits() != before {
			r.Fatal("the problem changed")
		}
		for _, factors := range [][]float64{byRow, byCol} {
			for _, f := range factors {
				if fraction, _ := math.Frexp(f); fraction != 0.5 {
					r.Fatalf("factor %v, want a power of two", f)
				}
			}
		}
		rowSizes, colSizes := largest(p, byRow, byCol)
		for _, sizes := range [][]float64{rowSizes, colSizes} {
			for i, size := range sizes {
				if size != 0 && !(size >= 0.4 && size <= 2.5) {
					r.Fatalf("largest of row or column %d is %v, want about 1", i, size)
				}
			}
		}
	})
}

// TestScale_undoes_units scales a problem whose rows and columns are measured in
// odd units: nothing is left of them.
func TestScale_undoes_units(t *testing.T) {
	p := &lp.Problem{}
	var rows []lp.Row
	for range 3 {
		r, err := p.AddRow(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	for j := range 3 {
		var entries []lp.RowEntry
		for i, r := range rows {
			entries = append(entries, lp.RowEntry{Row: r, Value: math.Ldexp(1, 10*i-7*j)})
		}
		if _, err := p.AddCol(0, 0, 1, entries...); err != nil {
			t.Fatal(err)
		}
	}
	byRow, byCol := lp.Scale(p)
	for j := range byCol {
		at, values := p.Entries(j)
		for k, r := range at {
			if got := values[k] * byRow[r] * byCol[j]; got < 0.5 || got > 2 {
				t.Errorf("coefficient of row %d and column %d is %v, want about 1", r, j, got)
			}
		}
	}
}

func TestScale_nothing(t *testing.T) {
	p := &lp.Problem{}
	r, _ := p.AddRow(0, 1)
	_, _ = p.AddRow(0, 1)
	_, _ = p.AddCol(1, 0, 1)
	if err := p.RemoveRow(r); err != nil {
		t.Fatal(err)
	}
	rows, cols := lp.Scale(p)
	if len(rows) != 2 || rows[0] != 1 || rows[1] != 1 || len(cols) != 1 || cols[0] != 1 {
		t.Errorf("got %v and %v, want ones", rows, cols)
	}
}
