//go:build cgo && (linux || darwin) && (amd64 || arm64)

package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/bartolsthoorn/gohighs/highs"

	"github.com/oxgang/oxgang/opt/lp"
)

// Available reports whether this build includes HiGHS, so that New and Solve work.
const Available = true

// A Solver solves linear and mixed-integer programs with HiGHS. It has no state and is safe for concurrent use.
type Solver struct{ options Options }

var _ lp.Solver = (*Solver)(nil)

// New returns a Solver, or an error if the options are invalid.
func New(o Options) (*Solver, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("exact: %w", err)
	}
	return &Solver{o}, nil
}

// Solve returns an optimum of p with dual values. With integer columns it returns a proven optimum without dual values;
// Iterations then counts search nodes, and Sweeps simplex iterations. If p has no optimum, Ray is a certificate about
// the linear part, or nil if the linear part proves nothing. X is then the point of least violation, or any feasible
// point. HiGHS does not stop when ctx ends. Solve returns an error for a coefficient of 1e15 or more, or if HiGHS
// fails.
func (s *Solver) Solve(ctx context.Context, p *lp.Problem) (*lp.Solution, error) {
	if ctx.Err() != nil {
		return nothing(p, lp.Interrupted), nil //nolint:nilerr // an ended context is a status
	}
	m, names := compile(p)
	r, err := m.run(s.options)
	if err != nil {
		return nil, fmt.Errorf("exact: %w", err)
	}
	if len(m.cost) == 0 && lp.PrimalResidual(p, r.x[:0]) > s.options.Tolerance {
		r.status = highs.ModelStatusInfeasible // HiGHS ignores an empty program's rows
	}
	switch r.status {
	case highs.ModelStatusOptimal, highs.ModelStatusModelEmpty:
		return s.graded(p, m, names, r, lp.Optimal), nil
	case highs.ModelStatusInfeasible, highs.ModelStatusUnbounded, highs.ModelStatusUnboundedOrInfeasible:
		return s.certified(p, m, names, r)
	case highs.ModelStatusIterationLimit, highs.ModelStatusUnknown:
		return s.graded(p, m, names, r, lp.Limited), nil
	default:
		return nil, fmt.Errorf("exact: HiGHS ended with status %v", r.status)
	}
}

func nothing(p *lp.Problem, status lp.Status) *lp.Solution {
	s := &lp.Solution{Status: status, X: make([]float64, p.ColSlots()), Y: make([]float64, p.RowSlots())}
	for j := range s.X {
		s.X[j] = min(max(0, p.Lows()[j]), p.Ups()[j])
	}
	lp.Grade(p, s)
	return s
}

func (s *Solver) graded(p *lp.Problem, m *program, names naming, r *result, status lp.Status) *lp.Solution {
	out := nothing(p, status)
	out.Iterations = r.iterations
	if r.hasX {
		out.X = names.byColumn(p, r.x)
	}
	if m.integer == nil {
		if r.hasY {
			out.Y = names.byRow(p, r.y)
		}
	} else {
		out.Y, out.DualResidual, out.Bound = nil, 0, r.bound
		out.Iterations, out.Sweeps = r.nodes, r.iterations
		s.round(p, out)
	}
	lp.Grade(p, out)
	return out
}

func (s *Solver) round(p *lp.Problem, out *lp.Solution) {
	x := append([]float64(nil), out.X...)
	for j, v := range x {
		if p.HasCol(j) && p.Column(j).Integer && math.Abs(v-math.Round(v)) < 1e-5 {
			x[j] = math.Round(v)
		}
	}
	if lp.PrimalResidual(p, x) <= max(s.options.Tolerance, lp.PrimalResidual(p, out.X)) {
		out.X = x
	}
}

func (s *Solver) certified(p *lp.Problem, m *program, names naming, r *result) (*lp.Solution, error) {
	o := DefaultOptions()
	least, err := m.leastViolation().run(o)
	if err != nil {
		return nil, fmt.Errorf("exact: certificate: %w", err)
	}
	out := nothing(p, lp.Infeasible)
	out.X = names.byColumn(p, least.x)
	out.Iterations = r.iterations
	farkas := names.byRow(p, least.y)
	if lp.CheckInfeasible(p, farkas) {
		out.Ray = farkas
	}
	if r.status != highs.ModelStatusInfeasible && out.Ray == nil {
		direction, err := m.recession().run(o)
		if err != nil {
			return nil, fmt.Errorf("exact: certificate: %w", err)
		}
		out.Status = lp.Unbounded
		if ray := names.byColumn(p, direction.x); lp.CheckUnbounded(p, ray) {
			out.Ray = ray
		}
	}
	out.Y = nil
	out.Bound = math.Inf(1)
	if out.Status == lp.Unbounded {
		out.Bound = math.Inf(-1)
	}
	lp.Grade(p, out)
	return out, nil
}
