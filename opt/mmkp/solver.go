package mmkp

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// ErrInfeasible is returned if the items with Must do not fit into the capacities.
var ErrInfeasible = errors.New("items that must be served do not fit")

// ErrLimit is returned if the search reached a limit before it found a feasible solution or proved that there is none.
var ErrLimit = errors.New("limit reached without a feasible solution")

// slack is the relative excess allowed over a capacity, so that ten tenths fit into one. The bound uses the enlarged
// capacity.
const slack = 1e-10

// Options limit the work of a solve and state the required quality.
type Options struct {
	MaxSteps int     // limit of steps in the search for prices
	MaxNodes int     // limit of search nodes, reduced for large problems; 0 keeps the rounded solution
	Gap      float64 // relative gap: the search stops at Bound - Value <= Gap * |Bound|
	// Ties decides between equally good solutions: 0 serves items in the order in which they were added; every
	// other number is another order.
	Ties uint64
}

// DefaultOptions returns limits within which programs of a hundred items are solved to a proven optimum, and programs
// of thousands in a few milliseconds.
func DefaultOptions() Options { return Options{MaxSteps: 500, MaxNodes: 100_000, Gap: 1e-9} }

func (o Options) validate() error {
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

// A Status is the reason why a solver stopped.
type Status uint8

// Reasons why a solver stopped.
const (
	Optimal     Status = iota // no solution is better by more than Options.Gap
	Limited                   // a limit of Options was reached
	Interrupted               // the context ended
)

func (s Status) String() string { return [...]string{"optimal", "limited", "interrupted"}[s] }

// A Solution has the choice taken for each item. It exceeds no capacity by more than a relative 1e-10. Value <= optimum
// <= Bound.
type Solution struct {
	Pick       []int // choice per item of the Problem, -1 for none; nil from a Program, see Program.Pick
	Value      float64
	Bound      float64
	Gap        float64   // (Bound - Value) / |Bound|; 0 if both are 0
	Prices     []float64 // value per unit of each resource; nil if the solver computes none
	Status     Status
	Iterations int // price steps
	Nodes      int // nodes that the search visited
	Fractional int // items that the best prices divide between columns, at most one per resource
}

// A Solver solves a complete Problem at each call. It reuses memory, but no results of earlier calls. It is not safe
// for concurrent use.
type Solver struct {
	program Program
	ids     []ItemID
	pick    []int
}

// NewSolver returns an empty solver.
func NewSolver() *Solver { return new(Solver) }

// Solve finds the choices with the highest total value. start has the resource prices from which the search begins, or
// is nil. The solution is valid until the next call. It returns an error for invalid numbers in p, start or opts,
// ErrInfeasible with the resource that is short, or ErrLimit.
func (s *Solver) Solve(ctx context.Context, p *Problem, start []float64, opts Options) (*Solution, error) {
	if err := errors.Join(opts.validate(), validateStart(p, start)); err != nil {
		return nil, errors.Join(err, p.Validate())
	}
	if s.program.reset(p.Capacity) != nil {
		return nil, p.Validate()
	}
	s.ids = s.ids[:0]
	for i := range p.Items {
		id, err := s.program.Add(p.Items[i])
		if err != nil {
			return nil, p.Validate()
		}
		s.ids = append(s.ids, id)
	}
	if start != nil {
		s.program.pricing.begin(start)
	}
	sol, err := s.program.Solve(ctx, opts)
	if err != nil {
		return nil, err
	}
	s.pick = sized(s.pick, len(s.ids))
	for i, id := range s.ids {
		s.pick[i] = s.program.Pick(id)
	}
	sol.Pick = s.pick
	return sol, nil
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

// Solve finds the choices with the highest total value, starting from the last prices. The solution is valid until the
// next solve; Pick returns the choice of one item.
func (p *Program) Solve(ctx context.Context, opts Options) (*Solution, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	p.call.opts, p.call.ctx = opts, ctx
	defer func() { p.call.ctx = nil }()
	sol, err := p.solveOnce()
	if err != nil {
		return nil, err
	}
	return p.improveLarge(sol), nil
}

func (p *Program) solveOnce() (*Solution, error) {
	p.inv.refit()
	if err := p.checkNeeds(); err != nil {
		return nil, err
	}
	p.pricing.findPrices()
	p.rounding.round()
	p.search.improve()
	return p.finish()
}

// checkNeeds fails if one resource cannot hold the least use of all items that must be served.
func (p *Program) checkNeeds() error {
	p.core.Spare = sized(p.core.Spare, p.core.K)
	clear(p.core.Spare)
	for i := range p.inv.items {
		if x := &p.inv.items[i]; x.live && x.must {
			deduct(p.core.Spare, p.inv.rows[i].least)
		}
	}
	for k, b := range p.given {
		if need := -p.core.Spare[k]; need > p.core.Capacity[k] {
			return fmt.Errorf("resource %d: must hold at least %v, capacity %v: %w", k, need, b, ErrInfeasible)
		}
	}
	return nil
}

func (p *Program) finish() (*Solution, error) {
	sol := &p.solution
	sol.Pick, sol.Value = nil, 0
	for i := range p.inv.items {
		x := &p.inv.items[i]
		if !x.live {
			continue
		}
		if x.taken == none && x.must {
			return nil, p.unserved(i)
		}
		if x.taken != none {
			sol.Value += x.worth(&p.inv.rows[i], x.taken)
		}
	}
	for i := range p.inv.items {
		p.inv.items[i].pick = p.inv.items[i].taken
	}
	sol.Prices = append(sol.Prices[:0], p.core.Prices[:len(p.given)]...)
	sol.Iterations, sol.Nodes, sol.Status, sol.Fractional = p.core.Steps, p.search.nodes, p.search.status, p.rounding.split
	sol.Bound = p.core.Bound
	if p.search.status == Optimal {
		sol.Bound = min(p.core.Bound, sol.Value+p.rounding.tolerance)
	}
	sol.Bound = max(sol.Bound, sol.Value)
	sol.Gap = 0
	if sol.Bound != sol.Value {
		sol.Gap = (sol.Bound - sol.Value) / math.Abs(sol.Bound)
	}
	return sol, nil
}

// unserved returns the error for an item that must be served and is not. A completed search proves it impossible; the
// resource whose whole capacity costs most counts as the short one.
func (p *Program) unserved(slot int) error {
	if p.search.status != Optimal {
		return fmt.Errorf("item of slot %d: not served after %d nodes: %w", slot, p.search.nodes, ErrLimit)
	}
	short := 0
	for k := range p.given {
		if p.core.Prices[k]*p.core.Capacity[k] > p.core.Prices[short]*p.core.Capacity[short] {
			short = k
		}
	}
	return fmt.Errorf("resource %d: capacity %v is too small for all of them: %w", short, p.given[short], ErrInfeasible)
}

func sized[T any](old []T, n int) []T {
	if cap(old) >= n {
		return old[:n]
	}
	return make([]T, n)
}
