package lyra

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// write writes the plan, with reasons.
func (r *round) write() {
	for i, t := range r.tenants {
		d := &r.Plan().Jobs[i]
		switch {
		case t.pinned:
		case t.t >= 0:
			r.grant(t, d)
		case t.refused.Kind != policy.Unexplained:
			d.Why = t.refused
		default:
			r.Refuse(i)
		}
	}
	for t := range r.types {
		side := allocate.Training
		if r.lent[t] {
			side = allocate.Loaned
		}
		r.Plan().Prices = append(r.Plan().Prices, policy.TypePrice{Type: r.types[t].Type, Price: r.prices[side]})
	}
}

// grant gives a job its workers.
func (r *round) grant(t *tenant, d *policy.Decision) {
	where := t.placed()
	if where.SameGPUs(t.Placement) && t.Holding() {
		d.Allocation, d.Placement = t.Allocation, t.Placement
		d.Why = policy.Reason{Kind: policy.AsPlanned, Config: t.Allocation.Configuration, Value: float64(t.Allocation.GPUs)}
		return
	}
	if !r.Give(t.index, t.t, where.GPUs()) {
		r.Refuse(t.index)
		return
	}
	d.Allocation.Nodes = len(where)
	d.Placement = r.fill(where, &d.Allocation)
}

// fill gives the shares of a placement their CPUs and memory, where nodes count them, in
// proportion to GPUs.
func (r *round) fill(p cluster.Placement, a *cluster.Allocation) cluster.Placement {
	info := &r.types[r.typeOf(a.GPUType)]
	if !info.Counts() {
		return p
	}
	out := make(cluster.Placement, len(p))
	for k, s := range p {
		one := each(a)
		out[k] = cluster.Share{Node: s.Node, Resources: cluster.Resources{GPUs: s.GPUs, CPUs: float64(s.GPUs) * one.CPUs, Memory: int64(s.GPUs) * one.Memory}}
	}
	return out
}
