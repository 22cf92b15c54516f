package synergy

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/policy"
)

// tune packs tenants as published, each with its full demand or its share. Source: Synergy §4.2.
func (p *Policy) tune(s *policy.Snapshot, plan *policy.Plan) {
	p.packing.reset(len(p.tenants))
	for k := range p.tenants {
		p.binary(&p.tenants[k])
	}
	p.keep(s)
	for _, k := range p.byDemand() {
		if p.packing.slots[k] != nil {
			continue
		}
		full := len(p.tenants[k].cells) - 1
		if !p.fit(s, k, full) && (full == 0 || !p.fit(s, k, 0)) { // 1. its demand, or its share
			p.force(s, k) // 2. its share; others revert to theirs
		}
	}
	p.yield(plan)
	p.place(s, plan)
	plan.Stats.Objective, _ = worth(p.tenants)
	plan.Stats.Bound = p.fastest()
	plan.Stats.Gap = policy.Gap(plan.Stats.Objective, plan.Stats.Bound)
}

// binary reduces a tenant to two cells, share and demand, or to its demand if that is within the share.
//
// Deviation: if it demands less of a resource than its share, both cells have the demand, because the share
// would not make it faster, and a job that reverts must not take more of anything.
func (p *Policy) binary(t *tenant) {
	if t.fixed {
		return
	}
	share := p.cluster.Types()[t.typeIndex].Share
	fair, best := t.cells[0], t.cells[len(t.cells)-1]
	t.cells = []cell{best}
	if best.CPUs > share.CPUs || best.Memory > share.Memory {
		fair.CPUs, fair.Memory = min(share.CPUs, best.CPUs), min(share.Memory, best.Memory)
		t.cells = []cell{fair, best}
	}
	t.level = 0
}

func (p *Policy) byDemand() []int {
	order := make([]int, len(p.tenants))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := p.tenants[a].demand(), p.tenants[b].demand()
		return cmp.Or(cmp.Compare(y.GPUs, x.GPUs), cmp.Compare(y.CPUs, x.CPUs), cmp.Compare(y.Memory, x.Memory))
	})
	return order
}

func (p *Policy) fastest() float64 {
	sum := 0.0
	for k := range p.tenants {
		cells := p.tenants[k].cells
		sum += cells[len(cells)-1].worth
	}
	return sum
}
