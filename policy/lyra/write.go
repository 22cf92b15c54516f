package lyra

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

type writer struct{ *demands }

func (w *writer) write(prices []float64) {
	for i, t := range w.tenants {
		d := &w.Plan().Jobs[i]
		switch {
		case t.pinned:
		case t.pair != none:
			w.grant(t, d)
		case t.refused.Kind != policy.Unexplained:
			d.Why = t.refused
		default:
			w.Refuse(i)
		}
	}
	for k, price := range prices {
		if !w.awaited(k) {
			w.Plan().Prices = append(w.Plan().Prices, policy.TypePrice{Type: w.types[k].Type, Price: price})
		}
	}
}

// awaited reports whether a waiting job may run on a type. Its price is then unknown, because phase two weighs only
// additional workers.
func (w *writer) awaited(k int) bool {
	of := w.types[k].Type
	return slices.ContainsFunc(w.tenants, func(t *tenant) bool { return t.pair == none && !t.pinned && t.Eligible(of) })
}

func (w *writer) grant(t *tenant, d *policy.Decision) {
	where := t.Placement
	if !t.untouched {
		where = join(t.base, t.flex)
	}
	if t.Holding() && where.SameGPUs(t.Placement) {
		d.Allocation, d.Placement = t.Allocation, t.Placement
		d.Why = policy.Reason{Kind: policy.AsPlanned, Config: t.Allocation.Configuration}
		return
	}
	a := w.allocation(t, where)
	w.Set(t.index, a)
	if t.Adaptivity.Has(job.BatchSizes) {
		d.Batch = job.BatchSize{} // Lyra+TunedJobs (§7.1)
	}
	d.Placement = w.fill(where, &a)
}

func (w *writer) allocation(t *tenant, where cluster.Placement) cluster.Allocation {
	var a cluster.Allocation
	for _, at := range w.pairs[t.pair] {
		if at == none {
			continue
		}
		part := w.s.Cluster.On(where, w.types[at].Type)
		switch {
		case len(part) == 0:
		case a.IsZero():
			a = w.Amount(t.index, at, part.GPUs())
			a.Nodes = len(part)
		default:
			a.Also = cluster.Configuration{Nodes: len(part), GPUs: part.GPUs(), GPUType: w.types[at].Type}
		}
	}
	return a
}

func (w *writer) fill(p cluster.Placement, a *cluster.Allocation) cluster.Placement {
	if info := &w.types[w.s.Cluster.TypeIndex(a.GPUType)]; !info.Counts() || a.Mixed() {
		return p
	}
	one := each(a)
	out := make(cluster.Placement, len(p))
	for k, s := range p {
		out[k] = cluster.Share{Node: s.Node, Resources: cluster.Resources{GPUs: s.GPUs, CPUs: float64(s.GPUs) * one.CPUs, Memory: int64(s.GPUs) * one.Memory}}
	}
	return out
}
