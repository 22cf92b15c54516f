package sia

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/policy"
)

// A Policy is Sia. It keeps the goodput rows and the prices of the last round.
// Its plans do not depend on what it keeps, with one exception: the last prices
// may decide between plans of equal value, or between plans within the gap of
// one that is not proven optimal. Make one with New.
type Policy struct {
	o       Options
	cluster *cluster.Cluster
	columns []configuration
	hosts   []host // by GPU type
	rows    map[job.ID]*row
	engine  engine.Engine // nil until a cluster is met
	items   int           // numbers given to items
	numbers []int         // of those, given back
	prices  []float64     // of the last round
	free    []float64     // GPUs that this round's plan leaves free, by resource
	gone    []*row        // of jobs that left in this round
}

// New returns a Sia policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	if err := engine.Check(o.Solver); err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	return &Policy{o: o, rows: make(map[job.ID]*row)}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	rows, err := p.prepare(s)
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	sol, err := p.engine.Solve(ctx) // 4. who gets what, at which prices
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	p.prices = append(p.prices[:0], sol.Prices...)
	return p.decide(rows, sol), nil // 5. allocations, with reasons
}

// prepare brings rows and program up to date with a snapshot.
func (p *Policy) prepare(s *policy.Snapshot) ([]*row, error) {
	if err := p.meet(s.Cluster); err != nil {
		return nil, err
	}
	rows := p.refreshRows(s)     // 1. goodput of each job and configuration
	p.pin(rows)                  // 2. who gets what it has, whatever it is worth
	return rows, p.file(s, rows) // 3. values under restarts and fairness
}
