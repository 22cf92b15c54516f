package oxgang

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
	"github.com/oxgang/oxgang/policy/goodput"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// A Policy chooses the GPUs of all jobs together. It stores goodputs, prices and the sizes of ended jobs between
// rounds.
type Policy struct {
	o        Options
	program  *goodput.Program
	renter   *boa.Policy // decides how many nodes are rented; nil: none
	jobs     map[job.ID]*state
	classes  map[job.Class]*ended
	stated   track
	influx   influx
	limit    limit
	active   []*state // of this round, in the order of its jobs
	weights  float64
	weighted bool
	spectrum
	ignored ignored
	round   int                         // of the last plan
	lent    map[cluster.GPUType]tenure  // types on loan; nil: none
	prices  map[cluster.GPUType]float64 // of a GPU in the last round
	owners  owners
	caps    *caps
}

// New returns the policy, or an error that joins all invalid settings.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("oxgang: %w", err)
	}
	program, err := goodput.New(o.Options)
	if err != nil {
		return nil, fmt.Errorf("oxgang: %w", err)
	}
	p := &Policy{o: o, program: program, jobs: make(map[job.ID]*state), classes: make(map[job.Class]*ended), prices: make(map[cluster.GPUType]float64)}
	p.owners, p.limit.margin, p.caps = make(owners), o.Margin, newCaps(&o)
	if o.Rent != nil {
		if p.renter, err = boa.New(*o.Rent); err != nil {
			return nil, fmt.Errorf("oxgang: %w", err)
		}
	}
	return p, nil
}

// Traits implements policy.Policy.
func (p *Policy) Traits() policy.Traits {
	rents := p.renter != nil
	return policy.Traits{Models: true, Sizes: true, Pools: true, Borrows: true, Rents: rents, Classes: rents}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	plan, err := p.within(ctx, s)
	if plan == nil && err == nil {
		plan, err = p.share(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("oxgang: %w", err)
	}
	return plan, nil
}

func (p *Policy) share(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	sized, back, err := p.leave(ctx, s)
	if err != nil {
		return nil, err
	}
	there := s.Without(vanished(s))
	rest := there.Without(back)
	p.lent = tenures(rest)
	p.owners.heed(s)
	p.caps.count(s)
	plan, err := p.program.Plan(ctx, rest, func(rows []*goodput.Row) {
		p.measure(rest, rows)
		p.weigh(rest, rows)
		p.charge(s, there, rows)
		p.order(s, sized, rows)
		p.guarantee(rows)
		p.limit.claim(rest, rows, p.active)
		p.caps.forbid(rows, p.active)
	})
	if err != nil {
		return nil, err
	}
	p.remember(rest, plan)
	displaced(there, rest, plan)
	plan.Return, plan.Capacity, plan.Background = back, sized.Capacity, sized.Background
	plan.Stats.Failed = sized.Stats.Failed
	p.expecting(sized, plan)
	borrow(s, plan)
	p.caps.explain(s, plan)
	return plan, nil
}

func (p *Policy) leave(ctx context.Context, s *policy.Snapshot) (sized *policy.Plan, back []cluster.NodeID, err error) {
	if back, err = reclaim.Back(s, reclaim.DefaultOptions()); err != nil {
		return nil, nil, err
	}
	sized, empty, err := p.rent(ctx, s)
	back = append(back, empty...)
	slices.Sort(back)
	return sized, back, err
}

func (p *Policy) remember(s *policy.Snapshot, plan *policy.Plan) {
	clear(p.prices)
	for _, t := range plan.Prices {
		p.prices[t.Type] = t.Price
	}
	p.note(s, plan)
}
