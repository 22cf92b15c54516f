package portfolio

import (
	"context"
	"errors"
	"testing"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// A fake gives one answer.
type fake struct {
	out *lp.Solution
	err error
}

func (f fake) Solve(context.Context, *lp.Problem) (*lp.Solution, error) { return f.out, f.err }

// An answer that is not within the tolerance, and a failure, go to simplex, whose answer it then is.
func TestSolve_asks_simplex_where_nothing_is_proven(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	good := &lp.Solution{Status: lp.Optimal}
	for name, first := range map[string]fake{
		"gap":       {out: &lp.Solution{Status: lp.Optimal, Gap: 0.1}},
		"primal":    {out: &lp.Solution{Status: lp.Limited, PrimalResidual: 0.1}},
		"dual":      {out: &lp.Solution{Status: lp.Limited, DualResidual: 0.1}},
		"no ray":    {out: &lp.Solution{Status: lp.Infeasible}},
		"a failure": {err: errors.New("HiGHS ended")},
	} {
		s, err := New(1e-4)
		if err != nil {
			t.Fatal(err)
		}
		p := &lp.Problem{}
		method := s.Choose(p)
		s.members[method], s.members[Simplex] = first, fake{out: good}
		if method == Simplex {
			t.Fatal("the program is simplex's own")
		}
		out, err := s.Solve(t.Context(), p)
		if err != nil || out != good || out.Method != Simplex {
			t.Errorf("%s: %+v (error %v), want that of simplex", name, out, err)
		}
	}
}
