package shards

import (
	"context"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/opt/lp"
)

// A Balancer assigns shards to servers, round after round. It must not keep the instance.
type Balancer interface {
	Balance(ctx context.Context, in *Instance) (*Result, error)
}

// A Result is the assignment of one round, with its Stats.
type Result struct {
	assignment assignment
	stats      stats
}

// stats state how a solution was found. Unknown numbers are zero.
type stats struct {
	Objective, Bound   float64 // total size of the replicas to copy, and a lower bound on it
	Iterations, Sweeps int     // of the solver
	Limited            bool    // the solver stopped at its iteration limit
	// Zero, One and Between are the numbers of relaxed values that are 0, 1 and in between. Source: thesis Fig. 4.4.
	Zero, One, Between int
	Shim               shimStats
	Parts              []time.Duration // processor time of each part of pop:K
}

const integral = 1e-6

func (s *stats) count(values []float64) {
	for _, v := range values {
		switch {
		case v <= integral:
			s.Zero++
		case v >= 1-integral:
			s.One++
		default:
			s.Between++
		}
	}
}

// relaxed is a balancer that solves the linear relaxation and rounds the solution with Shim. If the solver starts from
// its last solution, this is continual optimisation (COpter); otherwise it is the thesis' LP-Relaxed. Source: thesis
// §5.1.1, "Applying COpter".
type relaxed struct {
	solver lp.Solver
	dust   float64
	r      *relaxation
}

// newRelaxed returns a balancer that uses solver. If a server would get less than a fraction dust (0 to 0.01) of a
// shard's load, this load goes to the shard's other servers. dust should be about the solver's tolerance.
func newRelaxed(solver lp.Solver, dust float64) (*relaxed, error) {
	if !(dust >= 0 && dust <= 0.01) {
		return nil, fmt.Errorf("dust %v, want 0 to 0.01", dust)
	}
	return &relaxed{solver: solver, dust: dust}, nil
}

// Balance implements Balancer. The number of shards and servers, sizes and memory must be the same in every round.
func (b *relaxed) Balance(ctx context.Context, in *Instance) (*Result, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	if err := b.update(in); err != nil {
		return nil, fmt.Errorf("shards: relaxation: %w", err)
	}
	sol, err := b.solver.Solve(ctx, &b.r.problem)
	if err != nil {
		return nil, fmt.Errorf("shards: relaxation: solve: %w", err)
	}
	stats, err := statsOf(sol)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(b.r.cols))
	for k, c := range b.r.cols {
		values[k] = sol.Value(c)
	}
	stats.count(values)
	a, done := runShim(in, gather(values, in, b.dust))
	stats.Shim = done
	return &Result{assignment: a, stats: stats}, nil
}

func (b *relaxed) update(in *Instance) error {
	if b.r != nil {
		return b.r.update(in)
	}
	r, err := newRelaxation(in)
	b.r = r
	return err
}

func statsOf(sol *lp.Solution) (stats, error) {
	s := stats{
		Objective: sol.Objective, Bound: sol.Bound, Iterations: sol.Iterations, Sweeps: sol.Sweeps,
		Limited: sol.Status == lp.Limited || sol.Status == lp.Interrupted,
	}
	if sol.Status == lp.Infeasible || sol.Status == lp.Unbounded || sol.X == nil {
		return s, fmt.Errorf("shards: solver status %v: %w", sol.Status, errInfeasible)
	}
	return s, nil
}

// exactBalancer is a balancer that solves the integer program of the package doc to a proven optimum. Source: thesis §5.2.1,
// method (b).
type exactBalancer struct{ solver lp.Solver }

// newExactBalancer returns a balancer that uses solver, which must support integer variables.
func newExactBalancer(solver lp.Solver) *exactBalancer { return &exactBalancer{solver} }

// Balance implements Balancer, perhaps at exponential cost.
func (b *exactBalancer) Balance(ctx context.Context, in *Instance) (*Result, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	f, err := newFull(in, true)
	if err != nil {
		return nil, fmt.Errorf("shards: program: %w", err)
	}
	sol, err := b.solver.Solve(ctx, &f.problem)
	if err != nil {
		return nil, fmt.Errorf("shards: program: solve: %w", err)
	}
	stats, err := statsOf(sol)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(f.routed))
	for k, c := range f.routed {
		values[k] = sol.Value(c)
	}
	a, done := runShim(in, gather(values, in, integral))
	stats.Shim = done
	return &Result{assignment: a, stats: stats}, nil
}
