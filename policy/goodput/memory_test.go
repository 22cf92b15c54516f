package goodput

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy/policytest"
)

// What happens to a copy of a row, or to a row with the same columns, does not change the row.
func TestRow_copies_are_independent(t *testing.T) {
	draws.AtLeast(t, 200)
	rapid.Check(t, func(t *rapid.T) {
		p, err := New(Options{P: -0.5, Growth: 2, Solver: "price", Cells: true})
		if err != nil {
			t.Fatal(err)
		}
		moves := func(r *Row, factor float64) { r.Worth.Factors = slices.Repeat([]float64{factor}, len(r.columns)) }
		rows, err := p.Prepare(policytest.NewWorld(t).Snapshot(), func(rows []*Row) {
			for _, r := range rows {
				r.Worth = Worth{Weight: 1, Base: 1.1}
				moves(r, 0.9)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*Row){
			"refresh": func(r *Row) { r.job = rows[0].job; p.refresh(staleRow{r, true, true}) },
			"copyRow": func(r *Row) {
				of := r.copied()
				of.own()
				of.goodput, of.allowed = slices.Repeat([]float64{7}, len(of.columns)), make([]bool, len(of.columns))
				p.copyRow(duplicateRow{staleRow{r, false, true}, of})
			},
			"Peak":    func(r *Row) { r.peak = 0; p.Peak(r) },
			"factors": func(r *Row) { moves(r, 0.3); r.item.stale = true; _ = p.fileRow(r) },
			"choices": func(r *Row) { r.Worth.Factors, r.Worth.Factor = nil, 0; r.unit /= 2; _ = p.fileRow(r) },
		} {
			for _, r := range rows {
				check := func(kind string, changed, kept *Row) {
					want := contents(kept)
					change(changed)
					if got := contents(kept); got != want {
						t.Fatalf("%s of a %s of job %s changed the row from\n%s\nto\n%s", name, kind, r.job.ID, want, got)
					}
				}
				check("copy", r.copied(), r)
				first, follower := alone(r), alone(r)
				follower.follow(first)
				check("follower", follower, first)
				follower.follow(first)
				check("followed row", first, follower)
			}
		}
	})
}

// alone returns a copy of a row that shares nothing with it.
func alone(r *Row) *Row {
	c := r.copied()
	c.own()
	c.item.own()
	return c
}

// contents are the columns and choices of a row as a text, which shares no memory with the row.
func contents(r *Row) string {
	return fmt.Sprintf("%v %v %v\n%v\n%v %v\n%v %v %v", r.columns, r.sizes, r.allowed, r.goodput, r.cells, r.plain, r.item.choices, r.item.origin, r.item.factors)
}
