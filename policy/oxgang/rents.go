package oxgang

import (
	"context"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// Rented nodes. Package boa decides how many there are, by the best widths for each class of jobs and by the budget.
// Within a budget it also assigns them, and nothing is borrowed: a job that takes idle GPUs would keep a node rented
// longer, and restart for it (docs/experiments/oxgang.md). Without a limit, this policy shares out the rented nodes
// like owned ones. Surplus nodes are vacated, those with the fewest jobs first.

func (p *Policy) within(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if p.renter == nil || p.o.Rent.Budget == 0 {
		return nil, nil
	}
	return p.renter.Plan(ctx, s)
}

func (p *Policy) rent(ctx context.Context, s *policy.Snapshot) (sized *policy.Plan, empty []cluster.NodeID, err error) {
	if p.renter == nil || len(s.Rentals) == 0 {
		return &policy.Plan{}, nil, nil
	}
	if sized, err = p.renter.Plan(ctx, s); err != nil {
		return nil, nil, err
	}
	for i := range s.Rentals {
		r := &s.Rentals[i]
		want, ok := sized.Capacity[r.Group]
		if !ok || want >= r.Ready {
			continue
		}
		some, err := reclaim.Of(s, r.Group, r.Ready-want, reclaim.DefaultOptions())
		if err != nil {
			return nil, nil, err
		}
		empty = append(empty, some...)
	}
	return sized, empty, nil
}
