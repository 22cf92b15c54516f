package copter_test

import (
	"context"
	"testing"

	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/lp/lptest"
)

type spy struct {
	*copter.Solver
	t *testing.T
}

func (s spy) Solve(ctx context.Context, p *lp.Problem) (*lp.Solution, error) {
	out, err := s.Solver.Solve(ctx, p)
	if out.Status == lp.Limited || out.Bound < -1e300 && out.Status == lp.Optimal {
		s.t.Logf("%+v", out)
		for j := range p.ColSlots() {
			s.t.Logf("%+v", p.Column(j))
		}
		for i := range p.RowSlots() {
			a, b := p.Sides(i)
			s.t.Logf("%v %v", a, b)
		}
		s.t.Logf("%v", lp.ReducedCosts(p, out.Y))
		s.Reset()
		s.Trace(s.t.Logf)
		s.Solver.Solve(ctx, p)
	}
	return out, err
}

func TestSpy(t *testing.T) {
	lptest.Run(t, func() lp.Solver {
		o := copter.DefaultOptions()
		o.Primal, o.Dual, o.Gap = 1e-8, 1e-8, 1e-8
		s, _ := copter.New(o)
		return spy{s, t}
	}, lptest.Exact)
}
