// Package lptest tests implementations of lp.Solver: problems with known optima, problems without an optimum,
// edits between solves, and the numbers in a solution.
package lptest

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/lp"
)

// Tolerances are the relative errors that the tests allow.
type Tolerances struct {
	Objective float64 // distance from the known optimum
	Primal    float64 // of an optimum, as the next two
	Dual      float64
	Gap       float64
	// allows a bound of -Inf if columns are infinite, as first-order methods return.
	Unproven  bool
	Undecided bool
}

// Exact has the tolerances for simplex and interior-point solvers.
var Exact = Tolerances{Objective: 1e-7, Primal: 1e-7, Dual: 1e-7, Gap: 1e-7}

// Run tests an lp.Solver against the tolerances tol. fresh must return a new solver at every call.
func Run(t *testing.T, fresh func() lp.Solver, tol Tolerances) {
	s := suite{fresh, tol}
	for _, c := range table() {
		t.Run("known/"+c.name, func(t *testing.T) { s.known(t, c) })
	}
	t.Run("random_with_a_known_pair", func(t *testing.T) { rapid.Check(t, s.random) })
	t.Run("edited_equals_rebuilt", func(t *testing.T) { rapid.Check(t, s.edited) })
	t.Run("bounds_hold_on_random_problems", func(t *testing.T) { rapid.Check(t, s.honest) })
	t.Run("ended_context", s.ended)
	t.Run("equal_inputs_give_equal_bits", s.equal)
}

type suite struct {
	fresh func() lp.Solver
	tol   Tolerances
}

type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func (s suite) known(t *testing.T, c knownProblem) {
	b := &builder{t: t, p: &lp.Problem{}}
	c.build(b)
	solver := s.fresh()
	before := snapshot(b.p)
	for _, when := range []string{"first", "again"} {
		out := solve(t, solver, b.p)
		if !slices.Equal(before, snapshot(b.p)) {
			t.Errorf("%s: the solver changed the problem", when)
		}
		if c.status == lp.Optimal {
			s.optimal(t, b.p, out, c.want)
		} else {
			s.none(t, b.p, out, c.status)
		}
	}
}

func solve(t tb, s lp.Solver, p *lp.Problem) *lp.Solution {
	t.Helper()
	out, err := s.Solve(context.Background(), p)
	if err != nil {
		t.Fatalf("solve: %v", err)
	}
	return out
}

func (s suite) optimal(t tb, p *lp.Problem, out *lp.Solution, want float64) {
	t.Helper()
	if out.Status != lp.Optimal {
		t.Fatalf("status %v after %d iterations, want optimal %v (objective %v, bound %v, residuals %v and %v)",
			out.Status, out.Iterations, want, out.Objective, out.Bound, out.PrimalResidual, out.DualResidual)
	}
	consistent(t, p, out)
	if math.Abs(out.Objective-want) > s.tol.Objective*(1+math.Abs(want)) {
		t.Errorf("objective %v, want %v within %v", out.Objective, want, s.tol.Objective)
	}
	if out.Bound > want+1e-9*(1+math.Abs(want)) {
		t.Errorf("bound %v above the optimum %v", out.Bound, want)
	}
	if !(out.PrimalResidual <= s.tol.Primal && out.DualResidual <= s.tol.Dual) {
		t.Errorf("residuals %v and %v, want at most %v and %v", out.PrimalResidual, out.DualResidual, s.tol.Primal, s.tol.Dual)
	}
	if !(out.Gap <= s.tol.Gap) && !(s.tol.Unproven && open(p) && math.IsInf(out.Bound, -1)) {
		t.Errorf("gap %v (objective %v, bound %v), want at most %v", out.Gap, out.Objective, out.Bound, s.tol.Gap)
	}
}

func open(p *lp.Problem) bool {
	for j := range p.ColSlots() {
		if p.HasCol(j) && (math.IsInf(p.Lows()[j], 0) || math.IsInf(p.Ups()[j], 0)) {
			return true
		}
	}
	return false
}

func consistent(t tb, p *lp.Problem, out *lp.Solution) {
	t.Helper()
	if len(out.X) != p.ColSlots() || out.Y != nil && len(out.Y) != p.RowSlots() {
		t.Fatalf("X and Y have lengths %d and %d, want %d and %d", len(out.X), len(out.Y), p.ColSlots(), p.RowSlots())
	}
	for j, v := range out.X {
		if math.IsNaN(v) || math.IsInf(v, 0) || !p.HasCol(j) && v != 0 {
			t.Errorf("column %d: value %v", j, v)
		}
	}
	for i, v := range out.Y {
		if math.IsNaN(v) || math.IsInf(v, 0) || !p.HasRow(i) && v != 0 {
			t.Errorf("row %d: dual %v", i, v)
		}
	}
	graded(t, p, out)
}

func graded(t tb, p *lp.Problem, out *lp.Solution) {
	t.Helper()
	again := *out
	lp.Grade(p, &again)
	same := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-12*(1+math.Abs(a)) }
	if !same(again.Objective, out.Objective) || !same(again.PrimalResidual, out.PrimalResidual) {
		t.Errorf("objective %v and residual %v, but X has %v and %v",
			out.Objective, out.PrimalResidual, again.Objective, again.PrimalResidual)
	}
	if out.Y != nil && again.DualResidual > out.DualResidual+1e-12*(1+out.DualResidual) {
		t.Errorf("dual residual %v, but Y has %v", out.DualResidual, again.DualResidual)
	}
	if out.Y != nil && out.Bound < again.Bound-1e-9*(1+math.Abs(again.Bound)) {
		t.Errorf("bound %v, but Y proves %v", out.Bound, again.Bound)
	}
}

func (s suite) none(t tb, p *lp.Problem, out *lp.Solution, want lp.Status) {
	t.Helper()
	undecided := s.tol.Undecided && out.Status == lp.Limited
	if out.Status != want && !undecided {
		t.Fatalf("status %v, want %v", out.Status, want)
	}
	if len(out.X) != p.ColSlots() {
		t.Errorf("X has length %d, want %d", len(out.X), p.ColSlots())
	}
	switch {
	case out.Ray == nil:
	case out.Status == lp.Infeasible && !lp.CheckInfeasible(p, out.Ray):
		t.Errorf("ray %v does not prove that the problem is infeasible", out.Ray)
	case out.Status == lp.Unbounded && !lp.CheckUnbounded(p, out.Ray):
		t.Errorf("ray %v does not prove that the problem is unbounded", out.Ray)
	}
}

func (s suite) ended(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &builder{t: t, p: &lp.Problem{}}
	best := b.pair(stream("ended"), 12, 20, true)
	p := b.p
	out, err := s.fresh().Solve(ctx, p)
	if err != nil {
		t.Fatalf("error %v, want none: an ended context is a status", err)
	}
	if out.Status == lp.Optimal {
		s.optimal(t, p, out, best)
		return
	}
	if out.Status != lp.Interrupted {
		t.Errorf("status %v, want interrupted", out.Status)
	}
	consistent(t, p, out)
	if out.Bound > best+1e-9*(1+math.Abs(best)) {
		t.Errorf("bound %v above the optimum %v", out.Bound, best)
	}
}

func (s suite) equal(t *testing.T) {
	b := &builder{t: t, p: &lp.Problem{}}
	b.pair(stream("equal"), 20, 30, true)
	one, other := solve(t, s.fresh(), b.p), solve(t, s.fresh(), b.p)
	if !slices.Equal(one.X, other.X) || !slices.Equal(one.Y, other.Y) || one.Iterations != other.Iterations {
		t.Errorf("two new solvers gave different solutions of one problem:\n%v\n%v", one, other)
	}
}

func snapshot(p *lp.Problem) []float64 {
	all := []float64{p.Offset, float64(p.Edits())}
	for j := range p.ColSlots() {
		c := p.Column(j)
		all = append(all, float64(p.ColStamp(j)), c.Cost, c.Low, c.Up)
		for k, r := range c.Rows {
			all = append(all, float64(r), c.Values[k])
		}
	}
	for i := range p.RowSlots() {
		low, up := p.Sides(i)
		all = append(all, float64(p.RowStamp(i)), low, up)
	}
	return all
}
