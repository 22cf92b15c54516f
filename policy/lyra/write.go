package lyra

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// write writes the plan, with reasons.
func (r *round) write() {
	for i, t := range r.tenants {
		d := &r.Plan().Jobs[i]
		switch {
		case t.pinned:
		case t.pair != none:
			r.grant(t, d)
		case t.refused.Kind != policy.Unexplained:
			d.Why = t.refused
		default:
			r.Refuse(i)
		}
	}
	for k, price := range r.prices {
		if !r.awaited(k) {
			r.Plan().Prices = append(r.Plan().Prices, policy.TypePrice{Type: r.types[k].Type, Price: price})
		}
	}
}

// awaited reports whether a job that gets nothing may run on a type. The price of the type is not known then: phase two
// weighs only more workers of jobs that run, and often comes to 0 while the queue is long.
func (r *round) awaited(k int) bool {
	of := r.types[k].Type
	return slices.ContainsFunc(r.tenants, func(t *tenant) bool { return t.pair == none && !t.pinned && t.Eligible(of) })
}

// grant gives a job its workers.
func (r *round) grant(t *tenant, d *policy.Decision) {
	where := t.Placement
	if !t.untouched {
		where = join(t.base, t.flex)
	}
	if t.Holding() && where.SameGPUs(t.Placement) {
		d.Allocation, d.Placement = t.Allocation, t.Placement
		d.Why = policy.Reason{Kind: policy.AsPlanned, Config: t.Allocation.Configuration}
		return
	}
	a := r.allocation(t, where)
	r.Set(t.index, a)
	if t.Adaptivity.Has(job.BatchSizes) {
		d.Batch = job.BatchSize{} // its agent tunes it: Lyra+TunedJobs (§7.1)
	}
	d.Placement = r.fill(where, &a)
}

// allocation returns what a job holds that is placed so: on two types the first is that of
// training servers.
func (r *round) allocation(t *tenant, where cluster.Placement) cluster.Allocation {
	var a cluster.Allocation
	for _, at := range r.pairs[t.pair] {
		if at == none {
			continue
		}
		part := r.s.Cluster.On(where, r.types[at].Type)
		switch {
		case len(part) == 0:
		case a.IsZero():
			a = r.Amount(t.index, at, part.GPUs())
			a.Nodes = len(part)
		default:
			a.Also = cluster.Configuration{Nodes: len(part), GPUs: part.GPUs(), GPUType: r.types[at].Type}
		}
	}
	return a
}

// fill gives the shares of a placement their CPUs and memory, where nodes count them, in
// proportion to GPUs.
func (r *round) fill(p cluster.Placement, a *cluster.Allocation) cluster.Placement {
	if info := &r.types[r.typeOf(a.GPUType)]; !info.Counts() || a.Mixed() {
		return p
	}
	one := each(a)
	out := make(cluster.Placement, len(p))
	for k, s := range p {
		out[k] = cluster.Share{Node: s.Node, Resources: cluster.Resources{GPUs: s.GPUs, CPUs: float64(s.GPUs) * one.CPUs, Memory: int64(s.GPUs) * one.Memory}}
	}
	return out
}
