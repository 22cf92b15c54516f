package shockwave

import (
	"math/bits"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

func (p *Policy) explain(s *policy.Snapshot, r *grant.Round, plan *policy.Plan) {
	for _, a := range p.active {
		d := &plan.Jobs[a.index]
		if !r.Decided(a.index) {
			p.wait(s, r, a, plan)
		} else if a.unpredictable && d.Why.Kind == policy.AsPlanned {
			d.Why = policy.Reason{Kind: policy.Unpredicted, Config: d.Allocation.Configuration, Value: float64(a.batch)}
		}
	}
	plan.Stats.Failed = p.failed
	if p.window == nil {
		return
	}
	f := p.window.solved
	plan.Stats.Iterations, plan.Stats.Objective, plan.Stats.Bound = f.Solves, f.Value, f.Bound
	plan.Stats.Gap = policy.Gap(f.Value, f.Bound) // finite; f.Gap may not be
	plan.Stats.Interrupted = f.Interrupted
	for t, price := range f.Prices {
		plan.Prices = append(plan.Prices, policy.TypePrice{Type: p.window.types[t], Price: price})
	}
}

func (p *Policy) wait(s *policy.Snapshot, r *grant.Round, a *account, plan *policy.Plan) {
	if len(a.options) == 0 {
		r.Refuse(a.index)
		return
	}
	why := &plan.Jobs[a.index].Why
	*why = policy.Turn(a.row, s.Now)
	at := p.window.column(s.Round)
	if at < 0 {
		return
	}
	run := p.window.runs[a.row.ID]
	if later := run.Rounds >> at >> 1; later != 0 { // not this round, for which there may be too few GPUs
		until, rounds := 1+bits.TrailingZeros64(later), bits.OnesCount64(later)
		*why = policy.Reason{Kind: policy.WaitPlanned, Config: run.Configuration, Value: float64(until) * s.Length.Seconds(), Limit: float64(rounds) * s.Length.Seconds()}
	}
}
