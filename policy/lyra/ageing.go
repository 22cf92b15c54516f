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
		if t.waits() && r.s.Now.Sub(t.Since) >= r.p.o.Patience {
			late = append(late, t)
		}
	}
	slices.SortStableFunc(late, func(a, b *tenant) int { return a.Since.Compare(b.Since) })
	for k, at := range r.pairs {
		r.serveOn(k, at, late)
	}
}

// serveOn starts late jobs on training servers of a pair, or keeps nodes for the first that
// does not fit.
func (r *round) serveOn(k int, at pair, late []*tenant) {
	kept := false
	for _, t := range late {
		if t.pair != none || !r.belongs(t, at) {
			continue
		}
		own := at[allocate.Training]
		if r.demand(t, own); t.least == 0 {
			continue
		}
		t.pair, t.want = k, allocate.Workers{t.least, 0}
		if !r.start(t) && !kept {
			kept = r.keepFor(t, own)
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
		if t.pinned || t.pair == none {
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
		if node.GPUType == r.types[at].Type && !r.nodes[n].loaned {
			all = append(all, units(slot{n, r.s.Now}, r.room.Free(n)+r.nodes[n].flexible, unit, ends[n])...)
		}
	}
	return all
}

// leaving is GPUs of a node that come free.
type leaving struct {
	at   time.Time
	gpus int
}

// units returns the slots of a node, from the first on, at which so many GPUs are free.
func units(first slot, free, unit int, ends []leaving) []slot {
	slices.SortStableFunc(ends, func(a, b leaving) int { return a.at.Compare(b.at) })
	var all []slot
	for next := first; ; {
		for ; free >= unit; free -= unit {
			all = append(all, next)
		}
		if len(ends) == 0 {
			return all
		}
		next.from, free = ends[0].at, free+ends[0].gpus
		ends = ends[1:]
	}
}
