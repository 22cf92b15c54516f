package lptest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/lp"
)

func (s suite) edited(t *rapid.T) {
	d := rapidly(t)
	b := &builder{t: t, p: &lp.Problem{}}
	e := &editor{builder: b, draw: d}
	for range d(1, 4) {
		e.addRow()
	}
	for range d(1, 12) {
		e.addCol()
	}
	solver := s.fresh()
	for range d(1, 4) {
		for range d(0, 6) {
			e.edit()
		}
		out := solve(t, solver, b.p)
		built := rebuild(t, b.p)
		want := solve(t, s.fresh(), built)
		if out.Status != lp.Optimal || want.Status != lp.Optimal {
			t.Fatalf("status %v, rebuilt %v, want optimal", out.Status, want.Status)
		}
		consistent(t, b.p, out)
		if math.Abs(out.Objective-want.Objective) > 2*s.tol.Objective*(1+math.Abs(want.Objective)) {
			t.Fatalf("objective %v, rebuilt %v", out.Objective, want.Objective)
		}
		if out.PrimalResidual > s.tol.Primal || !(out.Gap <= s.tol.Gap) {
			t.Fatalf("residual %v and gap %v, want at most %v and %v", out.PrimalResidual, out.Gap, s.tol.Primal, s.tol.Gap)
		}
	}
}

func rebuild(t tb, p *lp.Problem) *lp.Problem {
	b := &builder{t: t, p: &lp.Problem{Offset: p.Offset}}
	place := make([]int, p.RowSlots())
	for i := range place {
		if p.HasRow(i) {
			place[i] = b.row(p.Sides(i))
		}
	}
	for j := range p.ColSlots() {
		if !p.HasCol(j) {
			continue
		}
		c := p.Column(j)
		var entries []float64
		for k, r := range c.Rows {
			entries = append(entries, float64(place[r]), c.Values[k])
		}
		b.col(c.Cost, c.Low, c.Up, entries...)
	}
	return b.p
}

type editor struct {
	*builder
	draw draw
}

func (e *editor) must(err error) {
	if err != nil {
		e.t.Fatalf("%v", err)
	}
}

func (e *editor) addRow() {
	e.row(-inf, float64(e.draw(0, 20)))
	r := e.rows[len(e.rows)-1]
	for _, c := range e.cols {
		e.must(e.p.SetCoefficient(r, c, float64(max(0, e.draw(-3, 4)))))
	}
}

func (e *editor) addCol() {
	var entries []float64
	for i := range e.rows {
		entries = append(entries, float64(i), float64(max(0, e.draw(-3, 4))))
	}
	e.col(float64(e.draw(-9, 3)), 0, float64(e.draw(0, 5)), entries...)
}

func (e *editor) edit() {
	kind := e.draw(0, 7)
	if len(e.cols) == 0 && kind != 1 || len(e.rows) == 0 && kind > 4 {
		kind = 0
	}
	c, r := e.draw(0, max(0, len(e.cols)-1)), e.draw(0, max(0, len(e.rows)-1))
	switch kind {
	case 0:
		e.addCol()
	case 1:
		e.addRow()
	case 2:
		e.must(e.p.RemoveCols(e.cols[c]))
		e.cols = append(e.cols[:c], e.cols[c+1:]...)
	case 3:
		e.must(e.p.SetCost(e.cols[c], float64(e.draw(-9, 3))))
	case 4:
		e.must(e.p.SetBounds(e.cols[c], 0, float64(e.draw(0, 5))))
	case 5:
		e.must(e.p.SetRHS(e.rows[r], -inf, float64(e.draw(0, 20))))
	case 6:
		e.must(e.p.SetCoefficient(e.rows[r], e.cols[c], float64(max(0, e.draw(-3, 4)))))
	default:
		e.must(e.p.RemoveRow(e.rows[r]))
		e.rows = append(e.rows[:r], e.rows[r+1:]...)
	}
}
