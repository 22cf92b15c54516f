package boa

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// finish requests the nodes that jobs are on or wait for, and keeps broken ones. Source: BOA §5.2, "Cluster
// Sizing".
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
	r.spareNodes()
}

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

// spareTime is how long unneeded nodes are kept after jobs wanted too many GPUs of a type, without a budget. Otherwise
// jobs might change their choices before the nodes ordered for them arrive.
const spareTime = 10 * time.Minute

type need struct {
	at    time.Time
	nodes int
}

func (r *round) spareNodes() {
	if r.p.o.Budget > 0 {
		return
	}
	if r.p.needs == nil {
		r.p.needs = make(map[cluster.Group][]need)
	}
	for i := range r.s.Rentals {
		l := &r.s.Rentals[i]
		wanted := r.plan.Capacity[l.Group]
		past := slices.DeleteFunc(r.p.needs[l.Group], func(n need) bool {
			return n.nodes <= wanted || r.s.Now.Sub(n.at) > spareTime
		})
		if r.rents != nil {
			past = append(past, need{r.s.Now, wanted})
		}
		r.p.needs[l.Group] = past
		if len(past) > 0 && past[0].nodes > wanted {
			r.plan.Capacity[l.Group] = max(wanted, min(past[0].nodes, l.Ready+l.Starting, l.Most))
		}
	}
}
