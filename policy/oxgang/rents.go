package oxgang

import (
	"context"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// Rented nodes. How many there are is for package boa to say: by the widths that are best for
// each class of jobs, at the price of the budget, and by what may be spent. Within a budget it
// says as well who has them: a job that takes GPUs because they idle makes a node cost longer,
// and restarts for it (docs/experiments/oxgang.md has what that costs); nothing is borrowed
// then. Without a limit the nodes that are there are shared out here, as if they were owned. Nodes
// that are more than are wanted are vacated, those with the fewest jobs first.

// within returns the plan of a budget; nil where nothing is rented, or there is no limit.
func (p *Policy) within(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if p.renter == nil || p.o.Rent.Budget == 0 {
		return nil, nil
	}
	return p.renter.Plan(ctx, s)
}

// rent returns a plan that says how many nodes are wanted, and which are to be vacated. Its
// decisions about jobs do not count.
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
