package goodput

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/policy/policytest"
)

// What happens to a copy of a row does not change the row.
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
				want := *r.copied()
				want.own()
				want.item.own()
				change(r.copied())
				got := *r.copied()
				got.own()
				got.item.own()
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s of a copy of job %s changed the row from\n%+v\nto\n%+v", name, r.job.ID, want, got)
				}
			}
		}
	})
}
