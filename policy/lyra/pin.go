package lyra

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

func (p *placer) pin() {
	reserved := false
	for _, t := range p.tenants {
		d := &p.Plan().Jobs[t.index]
		switch {
		case !t.pinned || d.Allocation.IsZero():
		case d.Allocation.Configuration == t.Allocation.Configuration:
			d.Allocation, d.Placement = t.Allocation, t.Placement
			p.take(t.Placement)
		default:
			reserved = true
		}
	}
	if !reserved {
		return
	}
	used := p.used()
	for _, t := range p.tenants {
		if d := &p.Plan().Jobs[t.index]; t.pinned && !d.Allocation.IsZero() && d.Placement == nil {
			p.reserve(d, used)
		}
	}
}

func (p *placer) used() []int {
	used := make([]int, len(p.nodes))
	for _, t := range p.tenants {
		for _, s := range t.Placement {
			if n, ok := p.s.Cluster.Index(s.Node); ok {
				used[n] += s.GPUs
			}
		}
	}
	return used
}

func (p *placer) reserve(d *policy.Decision, used []int) {
	a := &d.Allocation
	want := placement.Want{Type: a.GPUType, GPUs: a.GPUs, Unit: (a.GPUs + a.Nodes - 1) / a.Nodes, Each: each(a)}
	want.Rank = func(n int) int {
		if p.nodes[n].loaned {
			return -1
		}
		return used[n]
	}
	where, ok := p.room.Place(want)
	if !ok {
		*d = policy.Decision{Why: policy.Reason{Kind: policy.Evicted, Config: a.Configuration}}
		return
	}
	d.Placement = where
	p.count(where, -1)
}

func each(a *cluster.Allocation) cluster.Resources {
	return cluster.Resources{CPUs: a.CPUs / float64(a.GPUs), Memory: a.Memory / int64(a.GPUs)}
}
