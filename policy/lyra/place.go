package lyra

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
	"github.com/oxgang/oxgang/policy/placement/bestfit"
)

// placeBases finds nodes for the base demands that are granted, by decreasing worker, after
// flexible workers that are no longer granted were let go. It reports whether all have some.
// Source: Lyra §5.3.
func (r *round) placeBases() bool {
	var fresh []*tenant
	for _, t := range r.tenants {
		switch {
		case t.pinned || t.pair == none:
		case len(t.base) == 0:
			fresh = append(fresh, t)
		case len(t.flex) > 0:
			r.shrink(t)
		}
	}
	slices.SortStableFunc(fresh, func(a, b *tenant) int { return cmp.Compare(b.unit, a.unit) })
	all := true
	for _, t := range fresh {
		if !r.start(t) {
			all, t.stuck = false, true
		}
	}
	return all
}

// placeFlexible finds nodes for the flexible workers that are granted, as far as there is room.
func (r *round) placeFlexible() {
	for _, t := range r.tenants {
		if !t.elastic() || t.pair == none {
			continue
		}
		for side, at := range r.pairs[t.pair] {
			if at != none {
				r.trim(t, at)
				r.grow(t, allocate.Side(side))
			}
		}
	}
}

// shrink lets flexible workers of a job go that it is no longer to have, those on the emptiest
// nodes first.
func (r *round) shrink(t *tenant) {
	has := r.has(t)
	for side, at := range r.pairs[t.pair] {
		over := 0
		if at != none {
			over = r.gpus(t, at, has[side]-t.want[side])
		}
		for over > 0 {
			s, ok := r.loneliest(t, at)
			if !ok {
				break
			}
			s = some(s, min(over, s.GPUs))
			over -= s.GPUs
			r.letGo(t, s)
		}
	}
}

// trim lets GPUs of a type go that are no whole flexible worker: a worker on loan may be on
// several nodes, one of which went back.
func (r *round) trim(t *tenant, at int) {
	if t.untouched && t.memo.whole {
		return
	}
	for rest := r.s.Cluster.On(t.flex, r.types[at].Type).GPUs() % r.gpus(t, at, 1); rest > 0; {
		s, ok := r.loneliest(t, at)
		if !ok {
			return
		}
		s = some(s, min(rest, s.GPUs))
		rest -= s.GPUs
		r.letGo(t, s)
	}
}

// loneliest returns the flexible workers of a job on the node of a type that has most room.
func (r *round) loneliest(t *tenant, at int) (s cluster.Share, ok bool) {
	most := -1
	for _, share := range t.flex {
		n, _ := r.s.Cluster.Index(share.Node)
		if r.nodes[n].t == at && r.room.Free(n) > most {
			s, most = share, r.room.Free(n)
		}
	}
	return s, most >= 0
}

// start places the base demand of a job, and if necessary lets flexible workers of other jobs
// go to make room. It reports whether it could; if not, the job waits.
func (r *round) start(t *tenant) bool {
	var placed cluster.Placement
	base := r.baseOf(t)
	for side, at := range r.pairs[t.pair] {
		if base[side] == 0 {
			continue
		}
		where, ok := r.find(t, at, base[side])
		if !ok {
			r.give(placed)
			t.refused = policy.Reason{Kind: policy.Evicted, Config: r.types[at].Fewest(r.gpus(t, at, base[side]))}
			t.pair, t.want = none, allocate.Workers{}
			return false
		}
		r.count(where, -1)
		placed = join(placed, where)
	}
	t.base, t.untouched = placed, false
	r.note(t, placed, false)
	return true
}

// baseOf returns which of the workers that a job is to have are its base demand: those on
// training servers first.
func (r *round) baseOf(t *tenant) allocate.Workers {
	own := min(t.least, t.want[allocate.Training])
	return allocate.Workers{own, t.least - own}
}

// find takes nodes of a type for base workers of a job.
func (r *round) find(t *tenant, at, workers int) (cluster.Placement, bool) {
	w := r.wish(t, at, workers)
	w.Rank = r.rankBase(t)
	where, ok := r.room.Place(w)
	if !ok && r.makeRoom(&w, at) {
		where, ok = r.room.Place(w)
	}
	return where, ok
}

// wish returns the wish for some workers of a job.
func (r *round) wish(t *tenant, at, workers int) bestfit.Want {
	info := &r.types[at]
	a := r.Amount(t.index, at, r.gpus(t, at, workers))
	return bestfit.Want{Type: info.Type, GPUs: a.GPUs, Unit: min(t.unit, info.PerNode), Each: each(&a)}
}

// makeRoom lets flexible workers go where that makes room for a unit of a wish, on nodes with
// the fewest of them first, until all of it fits; it reports whether it does. If it would not
// without any of them, all stay.
func (r *round) makeRoom(w *bestfit.Want, at int) bool {
	fits := func(n int) int { return r.room.Free(n) / w.Unit * w.Unit }
	total, most := 0, 0
	for n := range r.nodes {
		if r.nodes[n].t == at && w.Rank(n) >= 0 {
			total += fits(n)
			most += (r.room.Free(n) + r.nodes[n].flexible) / w.Unit * w.Unit
		}
	}
	if most < w.GPUs {
		return false
	}
	for total < w.GPUs {
		n := r.cheapest(w, at)
		if n == none {
			return false
		}
		total -= fits(n)
		r.clear(n, (r.room.Free(n)/w.Unit+1)*w.Unit)
		total += fits(n)
	}
	return true
}

// cheapest returns the node of a type where letting flexible workers go makes room for one more
// unit; of several such nodes the one with the fewest GPUs of flexible workers; none if there
// is no such node.
func (r *round) cheapest(w *bestfit.Want, at int) int {
	best := none
	for n := range r.nodes {
		h := &r.nodes[n]
		if h.t != at || h.flexible == 0 || w.Rank(n) < 0 {
			continue
		}
		free := r.room.Free(n)
		if (free+h.flexible)/w.Unit > free/w.Unit && (best == none || h.flexible < r.nodes[best].flexible) {
			best = n
		}
	}
	return best
}

// clear lets whole flexible workers on a node go until so many GPUs are free.
func (r *round) clear(n, want int) {
	id := r.s.Cluster.Nodes()[n].ID
	for _, t := range r.tenants {
		i := slices.IndexFunc(t.flex, func(s cluster.Share) bool { return s.Node == id })
		if i < 0 || r.room.Free(n) >= want {
			continue
		}
		one := r.gpus(t, r.nodes[n].t, 1)
		r.letGo(t, some(t.flex[i], min(t.flex[i].GPUs, (want-r.room.Free(n)+one-1)/one*one)))
	}
}

// grow places the flexible workers on a side that a job is to have beyond those it has.
func (r *round) grow(t *tenant, side allocate.Side) {
	at := r.pairs[t.pair][side]
	for more := t.want[side] - r.has(t)[side]; more > 0; more-- {
		w := r.wish(t, at, 1)
		w.Rank = r.rankFlexible()
		where, ok := r.room.Place(w)
		if !ok {
			return
		}
		r.count(where, -1)
		t.flex, t.untouched = join(t.flex, where), false
		r.note(t, where, true)
	}
}
