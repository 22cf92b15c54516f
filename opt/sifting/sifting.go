package sifting

import (
	"context"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

// A Solver solves linear programs by a part of their columns. It implements lp.Solver.
// Not safe for concurrent use.
type Solver struct {
	inner     lp.Solver
	tolerance float64

	in    []bool   // by column slot: in the working set
	stamp []uint32 // by column slot, of the column it was decided for
	costs float64  // mean cost of a column that has one, at least 1e-9
}

// New returns a solver whose restricted programs inner solves. Reduced costs of the wrong
// sign are left alone up to tolerance (1e-9 to 1), relative to 1 + the column's cost.
func New(inner lp.Solver, tolerance float64) (*Solver, error) {
	if !(tolerance >= 1e-9 && tolerance <= 1) {
		return nil, fmt.Errorf("sifting: tolerance %v, want 1e-9 to 1", tolerance)
	}
	return &Solver{inner: inner, tolerance: tolerance}, nil
}

// Limits: programs until the whole one is solved, raises of the price of a row, and
// columns of a row that join at once.
const (
	maxTurns = 30
	raises   = 4
	joins    = 4
)

// Solve solves p; see lp.Solver. Iterations are restricted programs, sweeps the inner
// solver's iterations. Errors are the inner solver's.
func (s *Solver) Solve(ctx context.Context, p *lp.Problem) (*lp.Solution, error) {
	s.start(p)
	price, sweeps := 100*s.costs, 0
	for turn, raised := 1, 0; turn <= maxTurns && raised <= raises; turn++ {
		r := restrict(p, s.in, price)
		got, err := s.inner.Solve(ctx, &r.problem)
		if err != nil {
			return nil, fmt.Errorf("sifting: %w", err)
		}
		sweeps += got.Iterations
		if got.Y == nil || got.Status == lp.Infeasible || got.Status == lp.Unbounded {
			break
		}
		out := r.spread(p, got)
		joined := s.join(p, out.Y)
		switch {
		case ctx.Err() != nil:
			out.Status = lp.Interrupted
		case joined > 0:
			continue
		case r.unmet(got) > s.tolerance:
			price *= 100
			raised++
			continue
		}
		out.Iterations, out.Sweeps = turn, sweeps
		lp.Grade(p, out)
		s.leave(p, out)
		return out, nil
	}
	return s.inner.Solve(ctx, p)
}

// start fits the working set to the program. Columns that were not in the last one
// join if they are the cheapest of a row.
func (s *Solver) start(p *lp.Problem) {
	n, cold := p.ColSlots(), s.in == nil
	s.in, s.stamp = fitted(s.in, n), fitted(s.stamp, n)
	total, count := 0.0, 0
	for j, c := range p.Costs() {
		if s.stamp[j] != p.ColStamp(j) {
			s.in[j], s.stamp[j] = false, p.ColStamp(j)
		}
		s.in[j] = p.HasCol(j) && (s.in[j] || math.IsInf(rest(p, j), 0))
		if c != 0 {
			total += math.Abs(c)
			count++
		}
	}
	s.costs = max(total/float64(max(count, 1)), 1e-9)
	if cold {
		s.join(p, make([]float64, p.RowSlots()))
		s.cheapest(p)
	}
}

// cheapest lets the columns of the least cost of each row join.
func (s *Solver) cheapest(p *lp.Problem) {
	best := newWorst(p.RowSlots())
	for j, c := range p.Costs() {
		rows, _ := p.Entries(j)
		for _, r := range rows {
			best.offer(int(r), j, c)
		}
	}
	best.join(s.in)
}

// rest is where a column outside the working set is: its bound nearest to 0, or an
// infinity if it has none and must not be outside.
func rest(p *lp.Problem, j int) float64 {
	low, up := p.Lows()[j], p.Ups()[j]
	switch {
	case math.IsInf(low, -1):
		return up
	case math.Abs(up) < math.Abs(low):
		return up
	}
	return low
}

// join lets columns join of which y says that they should leave their bound: of each
// row those that gain most. It returns how many.
func (s *Solver) join(p *lp.Problem, y []float64) int {
	gain, alone := newWorst(p.RowSlots()), 0
	for j, d := range lp.ReducedCosts(p, y) {
		if s.in[j] || !p.HasCol(j) {
			continue
		}
		if rest(p, j) != p.Lows()[j] {
			d = -d // from its upper bound it can only fall
		}
		if p.Lows()[j] == p.Ups()[j] || d >= -0.5*s.tolerance*(1+math.Abs(p.Costs()[j])) {
			continue
		}
		rows, _ := p.Entries(j)
		if len(rows) == 0 {
			s.in[j] = true
			alone++
		}
		for _, r := range rows {
			gain.offer(int(r), j, d)
		}
	}
	return gain.join(s.in) + alone
}

// keep is the reduced cost, relative to the mean cost, up to which a column stays in
// the working set for the next program.
const keep = 0.05

// leave takes columns out of the working set that are far from being of use.
func (s *Solver) leave(p *lp.Problem, out *lp.Solution) {
	for j, d := range lp.ReducedCosts(p, out.Y) {
		if s.in[j] && out.X[j] == rest(p, j) && math.Abs(d) > keep*s.costs {
			s.in[j] = false
		}
	}
}

// fitted returns v with length n, and zeros where it grew.
func fitted[T any](v []T, n int) []T {
	if n > len(v) {
		return append(v, make([]T, n-len(v))...)
	}
	return v[:n]
}
