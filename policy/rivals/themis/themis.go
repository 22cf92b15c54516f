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
	if err := o.validate(); err != nil {
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

// Options configure Themis.
type Options struct {
	// Filter is the fraction of jobs that may bid, in (0, 1]: the jobs with the worst finish-time fairness. A
	// smaller fraction is fairer, a larger one more efficient. Default 0.2 (Themis: 1-f is 0.2).
	Filter float64
	// Adaptive uses 1/3 or 2/3 instead of Filter. Default false.
	Adaptive bool
	// Payments makes winners pay with a part of their GPUs. Default true.
	Payments bool
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options { return Options{Filter: 0.2, Payments: true} }

func (o *Options) validate() error {
	if !(o.Filter > 0 && o.Filter <= 1) {
		return fmt.Errorf("filter %v, want above 0 and at most 1", o.Filter)
	}
	return nil
}
