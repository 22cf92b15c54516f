package mmkp

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// ErrInfeasible reports that the items that must be served do not fit.
var ErrInfeasible = errors.New("items that must be served do not fit")

// ErrLimit reports that the limits were reached before any feasible solution
// was found, nor a proof that there is none.
var ErrLimit = errors.New("limit reached without a feasible solution")

// Options bound the work and say when a solution is good enough.
type Options struct {
	MaxSteps int     // price steps, from one vertex of the bound to the next
	MaxNodes int     // of the search; 0 keeps the rounded solution
	Gap      float64 // relative; the search stops at Bound - Value <= Gap * |Bound|
}

// DefaultOptions returns limits that prove small programs (tens of items)
// optimal and cost large ones (thousands) a few milliseconds.
func DefaultOptions() Options { return Options{MaxSteps: 500, MaxNodes: 100_000, Gap: 1e-9} }

// Validate joins every complaint about o.
func (o Options) Validate() error {
	var all []error
	if o.MaxSteps < 0 {
		all = append(all, fmt.Errorf("max steps %d, want at least 0", o.MaxSteps))
	}
	if o.MaxNodes < 0 {
		all = append(all, fmt.Errorf("max nodes %d, want at least 0", o.MaxNodes))
	}
	if !(o.Gap >= 0 && o.Gap < 1) {
		all = append(all, fmt.Errorf("gap %v, want at least 0 and below 1", o.Gap))
	}
	return errors.Join(all...)
}

// A Status says why a solver stopped.
type Status uint8

// Why a solver stopped.
const (
	Optimal     Status = iota // no solution is better by more than Options.Gap
	Limited                   // a limit of Options was reached
	Interrupted               // the context ended
)

// String returns "optimal", "limited" or "interrupted".
func (s Status) String() string { return [...]string{"optimal", "limited", "interrupted"}[s] }

// A Solution is feasible: what it picks fits, up to a relative 1e-10 of each
// capacity. Bound >= optimum >= Value always holds.
type Solution struct {
	Pick       []int // choice per item, -1 for none
	Value      float64
	Bound      float64
	Gap        float64   // (Bound - Value) / |Bound|; 0 if both are 0
	Prices     []float64 // value per unit of each resource; nil from a solver that has none
	Status     Status
	Iterations int // price steps
	Nodes      int // of the search
}

// Solve maximises p's value from the given prices (nil: from nothing; the last
// solution's are a good start). It is NewSolver().Solve.
func Solve(ctx context.Context, p *Problem, start []float64, opts Options) (*Solution, error) {
	return NewSolver().Solve(ctx, p, start, opts)
}

// A Solver keeps the memory of its last call, so that a round of the scheduler
// allocates nothing. It remembers no result: a warm start is passed in. Not
// safe for concurrent use.
type Solver struct {
	problem *Problem
	opts    Options
	ctx     context.Context // of the call in progress
	k       int             // resources, at least 1

	frontier
	descent
	line
	rounding
	search
	solution Solution
}

// NewSolver returns a solver without memory.
func NewSolver() *Solver { return new(Solver) }

// Solve maximises p's value from the given prices (nil: from nothing). The
// solution is the solver's until its next call. Errors: bad numbers in p, start
// or opts; ErrInfeasible, naming a resource that is short; ErrLimit. It takes
// MaxSteps price steps at most, each a few passes over the items, and MaxNodes
// search nodes.
func (s *Solver) Solve(ctx context.Context, p *Problem, start []float64, opts Options) (*Solution, error) {
	if err := errors.Join(opts.Validate(), p.Validate(), validateStart(p, start)); err != nil {
		return nil, err
	}
	s.problem, s.opts, s.ctx = p, opts, ctx
	defer func() { s.problem, s.ctx = nil, nil }()
	s.load()
	if err := s.checkNeeds(); err != nil {
		return nil, err
	}
	s.descend(start)
	s.round()
	s.branchAndBound()
	return s.finish()
}

func validateStart(p *Problem, start []float64) error {
	if start != nil && len(start) != len(p.Capacity) {
		return fmt.Errorf("start prices: got %d, want %d", len(start), len(p.Capacity))
	}
	for k, x := range start {
		if !(x >= 0 && x <= math.MaxFloat64) {
			return fmt.Errorf("start price of resource %d: %v, want finite and at least 0", k, x)
		}
	}
	return nil
}

// checkNeeds fails if one resource alone cannot hold the least that the items
// that must be served use of it.
func (s *Solver) checkNeeds() error {
	for k, b := range s.problem.Capacity {
		need := 0.0
		for i := range s.problem.Items {
			if s.problem.Items[i].Must {
				need += s.problem.Items[i].leastUse(k)
			}
		}
		if need > s.capacity[k] {
			return fmt.Errorf("resource %d: must hold at least %v, capacity %v: %w", k, need, b, ErrInfeasible)
		}
	}
	return nil
}

// leastUse returns the least any choice of the item uses of resource k.
func (it *Item) leastUse(k int) float64 {
	least := math.Inf(1)
	for j := range it.Choices {
		least = min(least, it.Choices[j].Uses(k))
	}
	return least
}

// finish writes the solution from the best picks found.
func (s *Solver) finish() (*Solution, error) {
	sol := &s.solution
	sol.Pick = sized(sol.Pick, len(s.items))
	sol.Value = 0
	for i, c := range s.best {
		j := s.columns[c].choice
		sol.Pick[i] = int(j)
		if j >= 0 {
			sol.Value += s.columns[c].value
		} else if s.problem.Items[i].Must {
			return nil, s.unserved(i)
		}
	}
	sol.Prices = append(sol.Prices[:0], s.prices[:len(s.problem.Capacity)]...)
	sol.Iterations, sol.Nodes, sol.Status = s.steps, s.nodes, s.status
	sol.Bound = s.bound
	if s.status == Optimal {
		sol.Bound = min(s.bound, sol.Value+s.tolerance)
	}
	sol.Bound = max(sol.Bound, sol.Value)
	sol.Gap = 0
	if sol.Bound != sol.Value {
		sol.Gap = (sol.Bound - sol.Value) / math.Abs(sol.Bound)
	}
	return sol, nil
}

// unserved says why item i, which must be served, is not: the search proves it
// impossible, or ran out. The dearest resource is the one that is short.
func (s *Solver) unserved(i int) error {
	if s.status != Optimal {
		return fmt.Errorf("item %d: not served after %d nodes: %w", i, s.nodes, ErrLimit)
	}
	short := 0
	for k := range s.problem.Capacity {
		if s.prices[k]*s.capacity[k] > s.prices[short]*s.capacity[short] {
			short = k
		}
	}
	return fmt.Errorf("resource %d: capacity %v is too small for all of them: %w", short, s.problem.Capacity[short], ErrInfeasible)
}

// sized returns a slice of length n, in old's memory if it is large enough. Its
// contents are not cleared.
func sized[T any](old []T, n int) []T {
	if cap(old) >= n {
		return old[:n]
	}
	return make([]T, n)
}
