package boa

import (
	"github.com/oxgang/oxgang/cluster"
)

// finish asks for the nodes that jobs are on, or are to be on; beside those that are broken,
// which nobody waits for.
// Source: BOA §5.2, "Cluster Sizing".
func (r *round) finish() {
	if len(r.s.Rentals) == 0 {
		return
	}
	r.plan.Capacity = make(map[cluster.Group]int, len(r.offers))
	for i := range r.s.Rentals {
		r.plan.Capacity[r.s.Rentals[i].Group] = r.broken[i]
	}
	for k := range r.pools {
		for i := range r.pools[k].nodes {
			n := &r.pools[k].nodes[i]
			if n.group >= 0 && n.used {
				r.plan.Capacity[r.offers[n.group].Group]++
			}
		}
	}
}

// rate returns what the widths of the plan cost per hour on rented nodes, as they were
// chosen: nodes on their way are not among it.
func (r *round) rate() float64 {
	total := 0.0
	for i := range r.plan.Jobs {
		d := &r.plan.Jobs[i]
		if len(d.Placement) == 0 {
			continue
		}
		if h := r.pool(d.Allocation.GPUType).nodes[r.at[d.Placement[0].Node]].group; h >= 0 {
			total += r.offers[h].GPUPrice() * paid(&r.offers[h], d.Allocation.GPUs, r.p.fill.part())
		}
	}
	return total
}

// shared returns the GPUs of nodes that no job has for itself, and how many of them are in
// use.
func (r *round) shared() (used, gpus int) {
	for k := range r.pools {
		for i := range r.pools[k].nodes {
			if n := &r.pools[k].nodes[i]; n.used && n.id != "" && (n.jobs > 1 || n.free.GPUs > 0) {
				used, gpus = used+n.size-n.free.GPUs, gpus+n.size
			}
		}
	}
	return used, gpus
}
