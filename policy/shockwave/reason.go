package shockwave

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// explain says why the others wait, and how good the window is.
func (p *Policy) explain(s *policy.Snapshot, r *queue.Round, plan *policy.Plan) {
	for _, a := range p.active {
		if !r.Decided(a.index) {
			plan.Jobs[a.index].Why = p.wait(s, r, a)
		}
	}
	plan.Stats.Failed = p.failed
	if p.window == nil || p.window.found == nil {
		return
	}
	f := p.window.found
	plan.Stats.Iterations, plan.Stats.Objective, plan.Stats.Bound, plan.Stats.Gap = f.Solves, f.Value, f.Bound, f.Gap()
	plan.Stats.Interrupted = f.Interrupted
	for t, price := range f.Prices {
		plan.Prices = append(plan.Prices, policy.TypePrice{Type: p.window.types[t], Price: price})
	}
}

// wait says why a job gets nothing in this round.
func (p *Policy) wait(s *policy.Snapshot, r *queue.Round, a *account) policy.Reason {
	if len(a.options) == 0 {
		return p.without(s, r, a)
	}
	o := &a.options[a.leanest]
	return policy.Reason{Kind: policy.WaitTurn, Config: o.Configuration, Value: a.row.AttainedService(s.Now).Seconds(), Limit: max(0, a.row.Age(s.Now).Seconds())}
}

// without says what is missing for a job that may have none of the GPUs that are to be
// shared out.
func (p *Policy) without(s *policy.Snapshot, r *queue.Round, a *account) policy.Reason {
	for t := range s.Cluster.Types() {
		if gang, ok := r.Gang(a.index, t); ok {
			return policy.Reason{Kind: policy.WaitNoCapacity, Config: gang.Configuration, Value: float64(r.Free(t)), Limit: float64(gang.GPUs)}
		}
	}
	return policy.Reason{Kind: policy.Impossible, Config: cluster.Configuration{Nodes: 1, GPUs: max(1, a.row.GPUs)}}
}
