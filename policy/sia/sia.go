package sia

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// A Policy is Sia. It caches goodputs and GPU prices between rounds.
type Policy struct {
	o       Options
	program *goodput.Program
}

// New returns a Policy, or all errors in o, joined.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	program, err := goodput.New(o.Options)
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	return &Policy{o: o, program: program}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.program.Plan(ctx, s, p.value(s))
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	return plan, nil
}

// value sets the worth of each job: λ and rᵢ, with equal weights. Source: Sia §3.3.4, Eq. 3.3 and 3.4.
func (p *Policy) value(s *policy.Snapshot) func([]*goodput.Row) {
	return func(rows []*goodput.Row) {
		for _, r := range rows {
			r.Worth = goodput.Worth{Weight: 1, Base: p.o.Lambda, Factor: p.restartFactor(r.Job(), s.Now)}
		}
	}
}
