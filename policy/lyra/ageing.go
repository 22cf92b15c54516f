package lyra

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

type ageing struct{ *placer }

// serveLate starts the jobs that have waited too long, the longest first. The nodes that will be free soonest are
// reserved for the first that does not fit: until then only jobs that end before use them.
func (g *ageing) serveLate() {
	if g.policy.o.Patience == 0 {
		return
	}
	var late []*tenant
	for _, t := range g.tenants {
		if t.waits() && g.s.Now.Sub(t.Since) >= g.policy.o.Patience {
			late = append(late, t)
		}
	}
	slices.SortStableFunc(late, func(a, b *tenant) int { return a.Since.Compare(b.Since) })
	for k, at := range g.pairs {
		g.serveOn(k, at, late)
	}
}

func (g *ageing) serveOn(k int, at pair, late []*tenant) {
	kept := false
	for _, t := range late {
		if t.pair != none || !g.belongs(t, at) {
			continue
		}
		own := at[allocate.Training]
		if g.demand(t, own); t.least == 0 {
			continue
		}
		t.pair, t.want = k, allocate.Workers{t.least, 0}
		if !g.start(t) && !kept {
			kept = g.keepFor(t, own)
		}
	}
}

type slot struct {
	node int
	from time.Time
}

func (g *ageing) keepFor(t *tenant, at int) bool {
	unit := min(t.unit, g.types[at].PerNode)
	slots := g.slots(at, unit)
	need := (g.gpus(t, at, t.least) + unit - 1) / unit
	if len(slots) < need {
		return false
	}
	slices.SortStableFunc(slots, func(a, b slot) int {
		return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.node, b.node))
	})
	for _, s := range slots[:need] {
		g.nodes[s.node].reservedUntil = slots[need-1].from
	}
	t.refused = policy.Reason{Kind: policy.WaitPlanned, Config: g.types[at].Fewest(need * unit), Value: slots[need-1].from.Sub(g.s.Now).Seconds()}
	return true
}

func (g *ageing) slots(at, unit int) []slot {
	ends := make([][]leaving, len(g.nodes))
	for _, t := range g.tenants {
		if t.pinned || t.pair == none {
			continue
		}
		end := g.end(t)
		for _, s := range t.base {
			n, _ := g.s.Cluster.Index(s.Node)
			ends[n] = append(ends[n], leaving{end, s.GPUs})
		}
	}
	var all []slot
	for n, node := range g.s.Cluster.Nodes() {
		if node.GPUType == g.types[at].Type && !g.nodes[n].loaned {
			all = append(all, units(slot{n, g.s.Now}, g.room.Free(n)+g.nodes[n].flexible, unit, ends[n])...)
		}
	}
	return all
}

type leaving struct {
	at   time.Time
	gpus int
}

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

// A prospect is what a pair offers to new jobs: GPUs of its training type that are free or used by flexible workers,
// and the number of elastic jobs that share the rest.
type prospect struct{ room, sharers int }

func (s *sharing) aim() {
	if len(s.pairs) < 2 {
		return
	}
	all := s.prospects()
	for _, t := range s.tenants {
		if t.aim = none; t.waits() && !t.unplaced && t.modelled() {
			s.aimAt(t, all)
		}
	}
}

func (s *sharing) prospects() []prospect {
	all := make([]prospect, len(s.pairs))
	for k, at := range s.pairs {
		if own := at[allocate.Training]; own != none {
			all[k].room = s.free[own]
		}
	}
	for n := range s.nodes {
		if h := &s.nodes[n]; s.spots[h.t].side == allocate.Training {
			all[s.spots[h.t].pair].room += h.flexible
		}
	}
	for _, t := range s.tenants {
		if t.pair != none && t.elastic() {
			all[t.pair].sharers++
		}
	}
	return all
}

func (s *sharing) aimAt(t *tenant, all []prospect) {
	fastest := 0.0
	for k, at := range s.pairs {
		if !s.belongs(t, at) {
			continue
		}
		if rate := s.expectedRate(t, at[allocate.Training], all[k]); rate > fastest {
			t.aim, fastest = k, rate
		}
	}
	if t.aim == none {
		return
	}
	own := s.pairs[t.aim][allocate.Training]
	s.demand(t, own)
	all[t.aim].room -= s.gpus(t, own, t.least)
	if t.elastic() {
		all[t.aim].sharers++
	}
}

func (s *sharing) expectedRate(t *tenant, at int, p prospect) float64 {
	s.demand(t, at)
	left := p.room - s.gpus(t, at, t.least)
	if t.least == 0 || left < 0 {
		return 0
	}
	if t.rates == nil {
		return s.speed(t, at)
	}
	share := left / (p.sharers + 1) / s.gpus(t, at, 1)
	return t.rates[min(share, t.top-t.least)]
}
