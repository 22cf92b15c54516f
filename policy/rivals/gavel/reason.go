package gavel

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type reasons struct{ *Policy }

func (p reasons) explain(s *policy.Snapshot, r *grant.Round, plan *policy.Plan) {
	for _, a := range p.active {
		if !r.Decided(a.index) {
			plan.Jobs[a.index].Why = p.wait(s, r, a)
		}
	}
	p.stats(plan)
}

func (p reasons) stats(plan *policy.Plan) {
	f := &p.outcome
	plan.Stats = policy.Stats{Iterations: f.iterations, Objective: f.objective, Bound: f.bound}
	plan.Stats.Gap = policy.Gap(f.objective, f.bound)
	for t, price := range f.prices {
		if t < len(p.types) {
			plan.Prices = append(plan.Prices, policy.TypePrice{Type: p.types[t], Price: price})
		}
	}
}

func (p reasons) wait(s *policy.Snapshot, r *grant.Round, a *account) policy.Reason {
	at, gang := p.where(a, r)
	switch {
	case at < 0:
		return policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: max(1, a.row.GPUs)}}
	case a.size[at] == 0:
		return policy.Reason{Kind: policy.WaitNoCapacity, Config: gang, Value: float64(r.Free(at)), Limit: float64(gang.GPUs)}
	case p.o.Objective == AlloX && a.x[at] == 0:
		return policy.Reason{Kind: policy.WaitServed, Config: gang, Value: float64(r.Free(at)), Limit: float64(gang.GPUs)}
	case p.o.Objective == Sum && a.x[at] < negligible && len(p.outcome.prices) > at:
		if worth, price := a.pace[at]/a.size[at], p.outcome.prices[at]; worth < price {
			return policy.Reason{Kind: policy.WaitPrice, Config: gang, Value: worth, Limit: price}
		}
	}
	return policy.Turn(a.row, s.Now)
}

func (p reasons) where(a *account, r *grant.Round) (at int, gang cluster.Configuration) {
	at = -1
	for t := range p.types {
		g, ok := r.Gang(a.index, t)
		if ok && (at < 0 || a.x[t] > a.x[at] || a.x[t] == a.x[at] && a.rate[t] > a.rate[at]) {
			at, gang = t, g.Configuration
		}
	}
	return at, gang
}
