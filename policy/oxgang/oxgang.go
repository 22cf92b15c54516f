package oxgang

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// A Policy chooses for all jobs together. It keeps the goodput rows and prices of
// the last round, and how much jobs of each class made before they ended. Make one
// with New.
type Policy struct {
	o       Options
	program *goodput.Program
	jobs    map[job.ID]*state
	classes map[job.Class]*ended
	active  []*state  // in this round, in the order of its jobs
	lengths []float64 // of jobs that are not profiled, ascending
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
	return &Policy{o: o, program: program, jobs: make(map[job.ID]*state), classes: make(map[job.Class]*ended)}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true, Pools: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.program.Plan(ctx, s, func(rows []*goodput.Row) {
		p.measure(s, rows) // 1. what each job has left
		p.weigh(s, rows)   // 2. what it counts beside others
		p.charge(rows)     // 3. what a move would cost it
	})
	if err != nil {
		return nil, fmt.Errorf("oxgang: %w", err)
	}
	return plan, nil
}
