package portfolio

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/sifting"
)

// The members, as lp.Solution.Method has them.
const (
	Copter        = "copter"
	Sifting       = "sifting"
	Simplex       = "simplex"
	InteriorPoint = "ipm"
)

// A Solver solves linear programs by one of several solvers. It implements lp.Solver. Of
// its members copter and sifting start from their last answer. Not safe for concurrent use.
type Solver struct {
	tolerance float64
	members   map[string]lp.Solver
}

// New returns a solver to a tolerance of 1e-10 to 0.01 on rows, bounds, reduced costs and gap, which are
// relative as in lp.Solution. Errors: another tolerance.
func New(tolerance float64) (*Solver, error) {
	if !(tolerance >= 1e-10 && tolerance <= 0.01) {
		return nil, fmt.Errorf("portfolio: tolerance %v, want 1e-10 to 0.01", tolerance)
	}
	s := &Solver{tolerance: tolerance, members: map[string]lp.Solver{}}
	o := copter.DefaultOptions()
	o.Primal, o.Dual, o.Gap = tolerance, tolerance, tolerance
	c, err := copter.New(o)
	if err != nil {
		return nil, fmt.Errorf("portfolio: %w", err)
	}
	s.members[Copter] = c
	if !exact.Available {
		return s, nil
	}
	return s, s.add()
}

// add adds the members that need HiGHS.
func (s *Solver) add() error {
	o := exact.DefaultOptions()
	o.Method, o.Tolerance = exact.Simplex, min(s.tolerance, 1e-6)
	simplex, err := exact.New(o)
	if err != nil {
		return fmt.Errorf("portfolio: %w", err)
	}
	o.Method, o.Tolerance, o.NoCrossover = exact.InteriorPoint, s.tolerance, true
	ipm, err := exact.New(o)
	if err != nil {
		return fmt.Errorf("portfolio: %w", err)
	}
	few, err := sifting.New(simplex, max(s.tolerance, 1e-9))
	if err != nil {
		return fmt.Errorf("portfolio: %w", err)
	}
	s.members[Simplex], s.members[InteriorPoint], s.members[Sifting] = simplex, ipm, few
	return nil
}

// Shapes: columns for each row from which on few of them are looked at, coupling rows that
// copter is made for, coefficients in a column of a network, and in a small program.
const (
	wide    = 16
	coupled = 64
	network = 3
	small   = 5000
)

// Choose returns the member that a program's shape suits. It costs a few passes over the
// coefficients.
func (s *Solver) Choose(p *lp.Problem) string {
	switch {
	case s.members[Simplex] == nil:
		return Copter
	case p.Cols() >= wide*p.Rows() && copter.Coupling(p) <= coupled:
		return Copter
	case p.Cols() >= wide*p.Rows():
		return Sifting
	case p.Nonzeros() <= small || p.Nonzeros() <= network*p.Cols():
		return Simplex
	}
	return InteriorPoint
}

// Solve solves p; see lp.Solver. Errors are those of HiGHS.
func (s *Solver) Solve(ctx context.Context, p *lp.Problem) (*lp.Solution, error) {
	method := s.Choose(p)
	out, err := s.members[method].Solve(ctx, p)
	if second := s.members[Simplex]; second != nil && ctx.Err() == nil && (err != nil || !s.proven(out)) {
		method = Simplex
		out, err = second.Solve(ctx, p)
	}
	if err != nil {
		return nil, fmt.Errorf("portfolio: %w", err)
	}
	if out.Status == lp.Limited && s.proven(out) {
		out.Status = lp.Optimal // HiGHS asks more of an interior point
	}
	out.Method = method
	return out, nil
}

// proven reports whether a solution is one within the tolerance, or proves that there is none.
func (s *Solver) proven(out *lp.Solution) bool {
	if out.Status == lp.Infeasible || out.Status == lp.Unbounded {
		return out.Ray != nil
	}
	return out.PrimalResidual <= s.tolerance && out.DualResidual <= s.tolerance && out.Gap <= s.tolerance
}
