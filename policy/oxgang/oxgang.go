package oxgang

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// A Policy chooses for all jobs together. It keeps the goodput rows and prices of
// the last round, and how much jobs of each class made before they ended. Make one
// with New.
type Policy struct {
	o       Options
	program *goodput.Program
	jobs    map[job.ID]*state
	classes map[job.Class]*ended
	active  []*state                    // in this round, in the order of its jobs
	lengths []float64                   // of jobs that are not profiled, ascending
	roots   float64                     // Σ √length
	lent    map[cluster.GPUType]*tenure // types on loan; nil: none
	prices  map[cluster.GPUType]float64 // of a GPU in the last round
}

// New returns the policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("oxgang: %w", err)
	}
	program, err := goodput.New(o.Options)
	if err != nil {
		return nil, fmt.Errorf("oxgang: %w", err)
	}
	return &Policy{o: o, program: program, jobs: make(map[job.ID]*state), classes: make(map[job.Class]*ended), prices: make(map[cluster.GPUType]float64)}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true, Pools: true, Borrows: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	back, err := reclaim.Back(s, reclaim.DefaultOptions()) // 1. what owners want back
	if err != nil {
		return nil, fmt.Errorf("oxgang: %w", err)
	}
	rest := s.Without(back)
	p.lent = tenures(rest)
	plan, err := p.program.Plan(ctx, rest, func(rows []*goodput.Row) {
		p.measure(rest, rows) // 2. what each job has left
		p.weigh(rest, rows)   // 3. what it counts beside others
		p.charge(s, rows)     // 4. what a move would cost it
	})
	if err != nil {
		return nil, fmt.Errorf("oxgang: %w", err)
	}
	p.remember(rest, plan)
	displaced(s, rest, plan)
	plan.Return = back
	borrow(s, plan) // 5. what comes on loan
	return plan, nil
}

// remember keeps what the next round needs of a plan.
func (p *Policy) remember(s *policy.Snapshot, plan *policy.Plan) {
	clear(p.prices)
	for _, t := range plan.Prices {
		p.prices[t.Type] = t.Price
	}
	p.note(s, plan)
}
