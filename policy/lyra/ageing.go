package lyra

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// serveLate starts the jobs that have waited too long, if they fit, the longest first. For the
// first that does not it keeps the nodes that will be free for it soonest: until then they
// are for jobs that end before.
func (r *round) serveLate() {
	if r.p.o.Patience == 0 {
		return
	}
	var late []*tenant
	for _, t := range r.tenants {
		if !t.pinned && !t.lost && t.t < 0 && r.s.Now.Sub(t.Since) >= r.p.o.Patience {
			late = append(late, t)
		}
	}
	slices.SortStableFunc(late, func(a, b *tenant) int { return a.Since.Compare(b.Since) })
	for _, at := range r.pairs() {
		r.serveOn(at[allocate.Training], late)
	}
}

// serveOn starts late jobs on a type, or keeps nodes of it for the first that does not fit.
func (r *round) serveOn(at int, late []*tenant) {
	kept := false
	for _, t := range late {
		if at < 0 || t.t >= 0 || !r.belongs(t, at) {
			continue
		}
		if r.demand(t, at); t.least == 0 {
			continue
		}
		t.t, t.workers, t.fresh = at, t.least, true
		if r.start(t); t.t < 0 && !kept {
			kept = r.keepFor(t, at)
		}
	}
}

// A slot is room for a unit of a job on a node, from some time on.
type slot struct {
	node int
	from time.Time
}

// keepFor keeps the nodes on which a job's units will be free soonest, and reports whether
// there are enough.
func (r *round) keepFor(t *tenant, at int) bool {
	unit := min(t.unit, r.types[at].PerNode)
	slots := r.slots(at, unit)
	need := (r.gpus(t, at, t.least) + unit - 1) / unit
	if len(slots) < need {
		return false
	}
	slices.SortStableFunc(slots, func(a, b slot) int {
		return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.node, b.node))
	})
	for _, s := range slots[:need] {
		r.nodes[s.node].kept = slots[need-1].from
	}
	t.refused = policy.Reason{Kind: policy.WaitPlanned, Config: r.types[at].Fewest(need * unit), Value: slots[need-1].from.Sub(r.s.Now).Seconds()}
	return true
}

// slots returns when there is room for units on the nodes of a type, as the base workers there
// end by what is believed.
func (r *round) slots(at, unit int) []slot {
	ends := make([][]leaving, len(r.nodes))
	for _, t := range r.tenants {
		if t.t != at || t.pinned {
			continue
		}
		end := r.end(t)
		for _, s := range t.base {
			n, _ := r.s.Cluster.Index(s.Node)
			ends[n] = append(ends[n], leaving{end, s.GPUs})
		}
	}
	var all []slot
	for n, node := range r.s.Cluster.Nodes() {
		if node.GPUType == r.types[at].Type {
			all = append(all, units(n, r.room.Free(n)+r.nodes[n].flexible, unit, r.s.Now, ends[n])...)
		}
	}
	return all
}

// leaving is GPUs of a node that come free.
type leaving struct {
	at   time.Time
	gpus int
}

// units returns the slots of a node that has so many GPUs free now.
func units(n, free, unit int, now time.Time, ends []leaving) []slot {
	slices.SortStableFunc(ends, func(a, b leaving) int { return a.at.Compare(b.at) })
	var all []slot
	for from := now; ; {
		for ; free >= unit; free -= unit {
			all = append(all, slot{n, from})
		}
		if len(ends) == 0 {
			return all
		}
		from, free = ends[0].at, free+ends[0].gpus
		ends = ends[1:]
	}
}
