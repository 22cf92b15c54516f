package copter_test

import (
	"testing"

	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/lp/lptest"
)

func TestConformance(t *testing.T) {
	lptest.Run(t, func() lp.Solver {
		o := copter.DefaultOptions()
		o.Primal, o.Dual, o.Gap = 1e-8, 1e-8, 1e-8
		s, err := copter.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, lptest.Exact)
}

func TestDebug(t *testing.T) {
	p := &lp.Problem{}
	a, _ := p.AddRow(7, lp.Inf)
	p.AddCol(1, 0, lp.Inf, lp.RowEntry{Row: a, Value: 2})
	p.AddCol(2, 3, 3, lp.RowEntry{Row: a, Value: 1})
	o := copter.DefaultOptions()
	o.Primal, o.Dual, o.Gap = 1e-8, 1e-8, 1e-8
	o.Passes = 5
	s, _ := copter.New(o)
	s.Trace(t.Logf)
	out, _ := s.Solve(t.Context(), p)
	t.Logf("%+v", out)
}
