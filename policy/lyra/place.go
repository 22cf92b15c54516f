package lyra

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/placement"
)

type placer struct{ demands }

// placeBases releases flexible workers that are no longer granted, and places granted base demands by
// decreasing worker. Source: Lyra §5.3.
func (p *placer) placeBases() bool {
	var fresh []*tenant
	for _, t := range p.tenants {
		switch {
		case t.pinned || t.pair == none:
		case len(t.base) == 0:
			fresh = append(fresh, t)
		case len(t.flex) > 0:
			p.shrink(t)
		}
	}
	slices.SortStableFunc(fresh, func(a, b *tenant) int { return cmp.Compare(b.unit, a.unit) })
	all := true
	for _, t := range fresh {
		if !p.start(t) {
			all, t.unplaced = false, true
		}
	}
	return all
}

func (p *placer) placeFlexible() {
	for _, t := range p.tenants {
		if !t.elastic() || t.pair == none {
			continue
		}
		for side, at := range p.pairs[t.pair] {
			if at != none {
				p.trim(t, at)
				p.grow(t, allocate.Side(side))
			}
		}
	}
}

func (p *placer) shrink(t *tenant) {
	has := p.has(t)
	for side, at := range p.pairs[t.pair] {
		over := 0
		if at != none {
			over = p.gpus(t, at, has[side]-t.want[side])
		}
		for over > 0 {
			s, ok := p.emptiest(t, at)
			if !ok {
				break
			}
			s = some(s, min(over, s.GPUs))
			over -= s.GPUs
			p.release(t, s)
		}
	}
}

func (p *placer) trim(t *tenant, at int) {
	if t.untouched && t.memo.whole {
		return
	}
	for rest := p.s.Cluster.On(t.flex, p.types[at].Type).GPUs() % p.gpus(t, at, 1); rest > 0; {
		s, ok := p.emptiest(t, at)
		if !ok {
			return
		}
		s = some(s, min(rest, s.GPUs))
		rest -= s.GPUs
		p.release(t, s)
	}
}

func (p *placer) emptiest(t *tenant, at int) (s cluster.Share, ok bool) {
	most := -1
	for _, share := range t.flex {
		n, _ := p.s.Cluster.Index(share.Node)
		if p.nodes[n].t == at && p.room.Free(n) > most {
			s, most = share, p.room.Free(n)
		}
	}
	return s, most >= 0
}

func (p *placer) start(t *tenant) bool {
	var placed cluster.Placement
	base := p.baseOf(t)
	for side, at := range p.pairs[t.pair] {
		if base[side] == 0 {
			continue
		}
		where, ok := p.find(t, at, base[side])
		if !ok {
			p.give(placed)
			t.refused = policy.Reason{Kind: policy.Evicted, Config: p.types[at].Fewest(p.gpus(t, at, base[side]))}
			t.pair, t.want = none, allocate.Workers{}
			return false
		}
		p.count(where, -1)
		placed = join(placed, where)
	}
	t.base, t.untouched = placed, false
	p.note(t, placed, false)
	return true
}

func (p *placer) baseOf(t *tenant) allocate.Workers {
	own := min(t.least, t.want[allocate.Training])
	return allocate.Workers{own, t.least - own}
}

func (p *placer) find(t *tenant, at, workers int) (cluster.Placement, bool) {
	w := p.wish(t, at, workers)
	w.Rank = p.rankBase(t)
	where, ok := p.room.Place(w)
	if !ok && p.makeRoom(&w, at) {
		where, ok = p.room.Place(w)
	}
	return where, ok
}

func (p *placer) wish(t *tenant, at, workers int) placement.Want {
	info := &p.types[at]
	a := p.Amount(t.index, at, p.gpus(t, at, workers))
	return placement.Want{Type: info.Type, GPUs: a.GPUs, Unit: min(t.unit, info.PerNode), Each: each(&a)}
}

// makeRoom releases flexible workers until a want fits, on nodes with the fewest first; none if the want would not
// fit without all of them.
func (p *placer) makeRoom(w *placement.Want, at int) bool {
	fits := func(n int) int { return p.room.Free(n) / w.Unit * w.Unit }
	total, most := 0, 0
	for n := range p.nodes {
		if p.nodes[n].t == at && w.Rank(n) >= 0 {
			total += fits(n)
			most += (p.room.Free(n) + p.nodes[n].flexible) / w.Unit * w.Unit
		}
	}
	if most < w.GPUs {
		return false
	}
	for total < w.GPUs {
		n := p.cheapest(w, at)
		if n == none {
			return false
		}
		total -= fits(n)
		p.clear(n, (p.room.Free(n)/w.Unit+1)*w.Unit)
		total += fits(n)
	}
	return true
}

func (p *placer) cheapest(w *placement.Want, at int) int {
	best := none
	for n := range p.nodes {
		h := &p.nodes[n]
		if h.t != at || h.flexible == 0 || w.Rank(n) < 0 {
			continue
		}
		free := p.room.Free(n)
		if (free+h.flexible)/w.Unit > free/w.Unit && (best == none || h.flexible < p.nodes[best].flexible) {
			best = n
		}
	}
	return best
}

func (p *placer) clear(n, want int) {
	id := p.s.Cluster.Nodes()[n].ID
	for _, t := range p.tenants {
		i := slices.IndexFunc(t.flex, func(s cluster.Share) bool { return s.Node == id })
		if i < 0 || p.room.Free(n) >= want {
			continue
		}
		one := p.gpus(t, p.nodes[n].t, 1)
		p.release(t, some(t.flex[i], min(t.flex[i].GPUs, (want-p.room.Free(n)+one-1)/one*one)))
	}
}

func (p *placer) grow(t *tenant, side allocate.Side) {
	at := p.pairs[t.pair][side]
	for more := t.want[side] - p.has(t)[side]; more > 0; more-- {
		w := p.wish(t, at, 1)
		w.Rank = p.rankFlexible()
		where, ok := p.room.Place(w)
		if !ok {
			return
		}
		p.count(where, -1)
		t.flex, t.untouched = join(t.flex, where), false
		p.note(t, where, true)
	}
}

// Ranks of nodes on loan, by their jobs.
const (
	alike = 1000 * iota
	empty
	other
)

// rankBase ranks nodes for base workers. On loan, servers with base workers come first, then empty ones, then
// those with flexible workers. Among the first, those whose jobs end soonest after the job win, then those
// that it prolongs least. Nodes reserved for another job are only for jobs that end before. Source: Lyra
// §5.3; the order by time is ours.
func (p *placer) rankBase(t *tenant) func(int) int {
	end := p.end(t)
	return func(n int) int {
		h := &p.nodes[n]
		switch {
		case !h.reservedUntil.IsZero() && end.After(h.reservedUntil), h.loaned && t.NonPreemptive:
			return -1
		case !h.loaned || !p.policy.o.Group:
			return 0
		case h.base > 0 && p.policy.o.Foresee:
			return alike + apart(h.ends.Sub(end))
		case h.base > 0:
			return alike
		case h.flexible > 0:
			return other
		}
		return empty
	}
}

func apart(later time.Duration) int {
	if later >= 0 {
		return min(249, int(later/time.Hour))
	}
	return 250 + min(249, int(-later/time.Hour))
}

// rankFlexible ranks nodes for flexible workers. On loan, servers with only such come first, then empty ones. Source:
// Lyra §5.3, "on separate groups of inference servers".
func (p *placer) rankFlexible() func(int) int {
	return func(n int) int {
		h := &p.nodes[n]
		switch {
		case !h.loaned || !p.policy.o.Group:
			return 0
		case h.base > 0:
			return other
		case h.flexible > 0:
			return alike
		}
		return empty
	}
}
