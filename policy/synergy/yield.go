package synergy

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// yield grants unplaced tenants their first cells, for which the placer may find room. If their GPU type then
// has too little, the tenants with most beyond their first cells revert until all fit, as first cells do.
func (p *Policy) yield(plan *policy.Plan) {
	lost := make(map[int]bool) // GPU types with an unplaced tenant
	for k := range p.tenants {
		if t := &p.tenants[k]; p.packing.slots[k] == nil && !t.fixed {
			t.level, lost[t.typeIndex] = 0, true
			first := t.cells[0].all(t.gpus)
			a := &plan.Jobs[t.index].Allocation
			a.CPUs, a.Memory = first.CPUs, first.Memory
		}
	}
	for kind := range p.cluster.Types() {
		if !lost[kind] {
			continue
		}
		for over := p.over(kind, plan); over; over = p.over(kind, plan) {
			if !p.giveBack(kind) {
				break
			}
		}
	}
}

func (p *Policy) over(kind int, plan *policy.Plan) bool {
	info := &p.cluster.Types()[kind]
	left := cluster.Resources{CPUs: info.CPUs, Memory: info.Memory}
	for k := range p.tenants {
		t := &p.tenants[k]
		if t.typeIndex != kind {
			continue
		}
		got := t.cells[t.level].all(t.gpus)
		if t.fixed {
			a := &plan.Jobs[t.index].Allocation
			got.CPUs, got.Memory = a.CPUs, a.Memory
		}
		left.CPUs, left.Memory = left.CPUs-got.CPUs, left.Memory-got.Memory
	}
	return left.CPUs < -1e-9*info.CPUs || left.Memory < 0 // sums of CPUs are rounded
}

// giveBack reverts the tenant of a GPU type with most beyond its first cell, as a part of the total; false if
// there is none.
func (p *Policy) giveBack(kind int) bool {
	info, worst, most := &p.cluster.Types()[kind], -1, 0.0
	for k := range p.tenants {
		t := &p.tenants[k]
		if t.typeIndex != kind || t.fixed || t.level == 0 {
			continue
		}
		got, first := t.cells[t.level].all(t.gpus), t.cells[0].all(t.gpus)
		more := max((got.CPUs-first.CPUs)/max(1, info.CPUs), float64(got.Memory-first.Memory)/max(1, float64(info.Memory)))
		if worst < 0 || more > most {
			worst, most = k, more
		}
	}
	if worst >= 0 {
		p.tenants[worst].level = 0
	}
	return worst >= 0
}
