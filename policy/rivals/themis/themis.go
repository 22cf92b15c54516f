package themis

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// A Policy is Themis, which auctions GPUs in each round.
type Policy struct {
	o      Options
	solver *mmkp.Solver
}

// New returns a Policy, or an error of o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("themis: %w", err)
	}
	return &Policy{o: o, solver: mmkp.NewSolver()}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy. It solves one knapsack for the auction, and one for the payment of each elastic
// winner.
//
// Deviation: jobs without checkpoints keep their GPUs, because all jobs of Themis have checkpoints.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("themis: round %d: %w", s.Round, err)
	}
	r := newRound(s)
	r.meet()
	through := p.filter(r)
	n := r.admit(through)
	if err := p.auction(ctx, r, n); err != nil {
		return nil, fmt.Errorf("themis: round %d: %w", s.Round, err)
	}
	r.share(n, through)
	r.give(through)
	return r.plan.Plan(), nil
}

func (p *Policy) filter(r *round) int {
	part := p.o.Filter
	if p.o.Adaptive && len(r.jobs) > 0 {
		if part = 2.0 / 3; r.jobs[0].rho > 1 {
			part = 1.0 / 3
		}
	}
	return letThrough(part, len(r.jobs))
}
