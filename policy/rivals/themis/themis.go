package themis

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// A Policy is Themis. Its plans depend on the snapshot alone. It reuses memory between
// rounds, so it is not safe for concurrent use. Make one with New.
type Policy struct {
	o      Options
	solver *mmkp.Solver
}

// New returns a Policy, or an error that says what is wrong with o.
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

// Plan implements policy.Policy. It solves one knapsack of the bids, and with payments
// one more for each elastic winner.
//
// Deviation: jobs without checkpoints have no leases and keep what they hold, because Themis'
// jobs all have checkpoints.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("themis: round %d: %w", s.Round, err)
	}
	r := newRound(s)                             // 1. what may not be taken from anyone
	r.meet()                                     // 2. how fair everyone else is treated, and its bids
	through := p.filter(r)                       // 3. who may bid
	n := r.admit(through)                        // 4. and is sure to win something
	if err := p.auction(ctx, r, n); err != nil { // 5. what each wins, and keeps
		return nil, fmt.Errorf("themis: round %d: %w", s.Round, err)
	}
	r.share(n, through) // 6. nothing is left idle
	r.give(through)     // 7. the plan, with reasons
	return r.plan.Plan(), nil
}

// filter returns how many of the jobs bid: of those sorted by fairness, the first.
func (p *Policy) filter(r *round) int {
	part := p.o.Filter
	if p.o.Adaptive && len(r.jobs) > 0 {
		if part = 2.0 / 3; r.jobs[0].rho > 1 {
			part = 1.0 / 3
		}
	}
	return letThrough(part, len(r.jobs))
}
