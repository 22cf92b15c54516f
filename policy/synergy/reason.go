package synergy

import "github.com/oxgang/oxgang/policy"

func (p *Policy) explain(s *policy.Snapshot, plan *policy.Plan) {
	for k := range p.tenants {
		t := &p.tenants[k]
		d, share := &plan.Jobs[t.index], &p.cluster.Types()[t.typeIndex].Share
		if t.fixed || d.Why.Kind != policy.AsPlanned || s.Jobs[t.index].Sensitivity == nil || t.cells[0].worth == 0 {
			continue
		}
		got := &t.cells[t.level]
		why := policy.Reason{Config: d.Allocation.Configuration, Value: got.worth / t.cells[0].worth}
		switch {
		case got.CPUs > share.CPUs || got.Memory > share.Memory:
			why.Kind = policy.AboveShare
		case got.CPUs < share.CPUs || got.Memory < share.Memory:
			why.Kind = policy.BelowShare
		default:
			continue
		}
		d.Why = why
	}
}
