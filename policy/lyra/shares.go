package lyra

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

func join(p, q cluster.Placement) cluster.Placement {
	switch {
	case len(q) == 0:
		return p
	case len(p) == 0:
		return q
	}
	all := append(slices.Clone(p), q...)
	all.Sort()
	out := all[:1]
	for _, s := range all[1:] {
		if last := &out[len(out)-1]; last.Node == s.Node {
			last.GPUs, last.CPUs, last.Memory = last.GPUs+s.GPUs, last.CPUs+s.CPUs, last.Memory+s.Memory
			continue
		}
		out = append(out, s)
	}
	return out
}

func less(p, q cluster.Placement) cluster.Placement {
	var out cluster.Placement
	i := 0
	for _, s := range p {
		for i < len(q) && q[i].Node < s.Node {
			i++
		}
		if i < len(q) && q[i].Node == s.Node {
			s.GPUs, s.CPUs, s.Memory = s.GPUs-q[i].GPUs, max(0, s.CPUs-q[i].CPUs), s.Memory-q[i].Memory
		}
		if s.GPUs > 0 {
			out = append(out, s)
		}
	}
	return out
}

func first(p cluster.Placement, gpus int) cluster.Placement {
	order := slices.Clone(p)
	slices.SortStableFunc(order, func(a, b cluster.Share) int { return b.GPUs - a.GPUs })
	var out cluster.Placement
	for _, s := range order {
		if gpus <= 0 {
			break
		}
		out = append(out, some(s, min(gpus, s.GPUs)))
		gpus -= s.GPUs
	}
	out.Sort()
	return out
}

func some(s cluster.Share, gpus int) cluster.Share {
	if gpus == s.GPUs {
		return s
	}
	s.CPUs, s.Memory = s.CPUs*float64(gpus)/float64(s.GPUs), s.Memory/int64(s.GPUs)*int64(gpus)
	s.GPUs = gpus
	return s
}

func on(p cluster.Placement, node cluster.NodeID) int {
	if i, ok := slices.BinarySearchFunc(p, node, func(s cluster.Share, id cluster.NodeID) int {
		switch {
		case s.Node < id:
			return -1
		case s.Node > id:
			return 1
		}
		return 0
	}); ok {
		return p[i].GPUs
	}
	return 0
}

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
