package lyra

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

type demands struct {
	inventory
	*grant.Round
	tenants []*tenant
}

type tenant struct {
	*policy.Job
	index      int
	pair       int  // of its GPUs; none: it waits
	unit       int  // GPUs of a worker, in the GPUs of the request
	plain      bool // a GPU of any type counts the same
	least, top int
	aim        int // fastest pair for a waiting job; none: any
	held       int
	work       time.Duration // remaining, for one worker
	rates      []float64     // estimated progress per second by workers, from least; nil: unknown
	want       allocate.Workers
	base, flex cluster.Placement
	pinned     bool
	reclaimed  bool // its servers are returned
	unplaced   bool // its granted base demand fits no servers
	refused    policy.Reason
	rate       float64 // estimated progress per second with the base demand; 0: no model
	basis      perf.Remaining
	memo       memo
	untouched  bool // base and flex are unchanged
}

func (t *tenant) elastic() bool { return t.top > t.least }

func (t *tenant) waits() bool { return !t.pinned && !t.reclaimed && t.pair == none }

func (p *Policy) read(s *policy.Snapshot) *placer {
	r := &placer{demands{inventory: p.stock(s), Round: grant.NewRound(s), tenants: slices.Grow(p.spare[:0], len(s.Jobs))}}
	p.at = 0
	for i, j := range s.Jobs {
		r.tenants = append(r.tenants, p.reuse(s, j, r.Decided(i)))
		r.tenants[i].index = i
	}
	clear(r.tenants[len(r.tenants):cap(r.tenants)])
	p.last, p.spare = r.tenants, p.last
	r.pin()
	for _, t := range r.tenants {
		switch {
		case t.pinned || !t.Holding():
		case t.memo.version > 0:
			r.resume(t)
		default:
			r.settle(t)
		}
	}
	return r
}

func (d *demands) settle(t *tenant) {
	at := d.s.Cluster.TypeIndex(t.Allocation.GPUType)
	if at == none || len(t.Placement) == 0 || !d.room.Holds(t.Placement) {
		return
	}
	d.take(t.Placement)
	t.pair = d.spots[at].pair
	d.demand(t, at)
	d.splitBase(t)
	d.note(t, t.base, false)
	d.note(t, t.flex, true)
	d.remember(t, at)
}

// splitBase separates base from flexible workers. Workers of a heterogeneous job on training servers are base demand
// first. Source: Lyra §6, "their base demands are placed on training servers, and flexible demands on inference
// servers whenever possible".
func (d *demands) splitBase(t *tenant) {
	t.base = t.Placement
	if !t.elastic() {
		return
	}
	known, ok := d.policy.bases[t.ID]
	switch {
	case t.Allocation.Mixed():
		t.base = d.first(t)
	case ok && known.on.Common(t.Placement) == known.on.GPUs():
		t.base = known.on
	default:
		t.base = first(t.Placement, d.gpus(t, d.s.Cluster.TypeIndex(t.Allocation.GPUType), t.least))
	}
	t.flex = less(t.Placement, t.base)
}

func (d *demands) first(t *tenant) (base cluster.Placement) {
	left := t.least
	for _, at := range d.pairs[t.pair] {
		if at == none || left == 0 {
			continue
		}
		part := d.s.Cluster.On(t.Placement, d.types[at].Type)
		n := min(left, part.GPUs()/d.gpus(t, at, 1))
		base, left = join(base, first(part, d.gpus(t, at, n))), left-n
	}
	return base
}

func (d *demands) note(t *tenant, p cluster.Placement, flexible bool) {
	for _, s := range p {
		n, ok := d.s.Cluster.Index(s.Node)
		if !ok {
			continue
		}
		if h := &d.nodes[n]; flexible {
			h.flexible += s.GPUs
		} else {
			h.base += s.GPUs
			h.extend(d.end(t))
		}
	}
}

func (d *demands) leave(p cluster.Placement, flexible bool) {
	d.give(p)
	for _, s := range p {
		n, ok := d.s.Cluster.Index(s.Node)
		switch {
		case !ok:
		case flexible:
			d.nodes[n].flexible -= s.GPUs
		default:
			d.nodes[n].base -= s.GPUs
		}
	}
}

func (d *demands) release(t *tenant, gone ...cluster.Share) {
	d.leave(gone, true)
	t.flex, t.untouched = less(t.flex, gone), false
}

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
