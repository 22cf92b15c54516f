package lyra

import (
	"cmp"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/placement/bestfit"
	"github.com/oxgang/oxgang/policy"
)

// place finds nodes for the base demands that are granted, by decreasing worker, after
// flexible workers that are no longer granted were let go. It reports whether all have some.
// Source: Lyra §5.3.
func (r *round) place() bool {
	var fresh []*tenant
	for _, t := range r.tenants {
		switch {
		case t.pinned || t.t < 0:
		case t.fresh && len(t.base) == 0:
			fresh = append(fresh, t)
		default:
			r.shrink(t)
		}
	}
	slices.SortStableFunc(fresh, func(a, b *tenant) int { return cmp.Compare(b.unit, a.unit) })
	all := true
	for _, t := range fresh {
		if r.start(t); t.t < 0 {
			all, t.stuck = false, true
		}
	}
	return all
}

// growAll places the flexible workers that are granted.
func (r *round) growAll() {
	for _, t := range r.tenants {
		if t.elastic() && t.t >= 0 && !t.pinned {
			r.grow(t)
		}
	}
}

// shrink lets flexible workers go that a job no longer has, those on the emptiest nodes first.
func (r *round) shrink(t *tenant) {
	for over := t.base.GPUs() + t.flex.GPUs() - r.gpus(t, t.t, t.workers); over > 0 && len(t.flex) > 0; {
		s := slices.MinFunc(t.flex, func(a, b cluster.Share) int {
			return cmp.Or(cmp.Compare(r.held(a.Node), r.held(b.Node)), cmp.Compare(a.Node, b.Node))
		})
		gone := some(s, min(over, s.GPUs))
		over -= gone.GPUs
		r.letGo(t, cluster.Placement{gone})
	}
}

// held returns the GPUs that jobs hold of a node.
func (r *round) held(id cluster.NodeID) int {
	n, _ := r.s.Cluster.Index(id)
	return r.s.Cluster.Nodes()[n].Capacity.GPUs - r.room.Free(n)
}

// start places the base demand of a job, if need be where flexible workers make room.
func (r *round) start(t *tenant) {
	w := r.want(t, t.least)
	w.Rank = r.rankBase(t)
	where, ok := r.room.Place(w)
	if !ok && r.makeRoom(&w) {
		where, ok = r.room.Place(w)
	}
	if !ok {
		t.refused = policy.Reason{Kind: policy.Evicted, Config: r.types[t.t].Fewest(w.GPUs)}
		t.t, t.workers, t.fresh = -1, 0, false
		return
	}
	t.base = where
	r.count(t, where, nil)
}

// want returns the wish for some workers of a job.
func (r *round) want(t *tenant, workers int) bestfit.Want {
	info := &r.types[t.t]
	gpus := r.gpus(t, t.t, workers)
	w := bestfit.Want{Type: info.Type, GPUs: gpus, Unit: min(t.unit, info.PerNode)}
	a := r.Amount(t.index, t.t, gpus)
	w.Each = each(&a)
	return w
}

// makeRoom lets flexible workers go on the nodes where the fewest of them make room for a
// unit, until all of a want fits; it reports whether it does.
func (r *round) makeRoom(w *bestfit.Want) bool {
	fits := 0
	for n := range r.nodes {
		if w.Rank(n) >= 0 && r.s.Cluster.Nodes()[n].GPUType == w.Type {
			fits += r.room.Free(n) / w.Unit * w.Unit
		}
	}
	for fits < w.GPUs {
		best, most := -1, 0
		for n := range r.nodes {
			h := &r.nodes[n]
			if h.flexible == 0 || w.Rank(n) < 0 || r.s.Cluster.Nodes()[n].GPUType != w.Type {
				continue
			}
			free := r.room.Free(n)
			gain := (free+h.flexible)/w.Unit*w.Unit - free/w.Unit*w.Unit
			if gain > 0 && (best < 0 || h.flexible < most) {
				best, most = n, h.flexible
			}
		}
		if best < 0 {
			return false
		}
		before := r.room.Free(best) / w.Unit * w.Unit
		r.clear(best, w.Unit)
		fits += r.room.Free(best)/w.Unit*w.Unit - before
	}
	return true
}

// clear lets flexible workers on a node go until it has room for a unit more.
func (r *round) clear(n, unit int) {
	id := r.s.Cluster.Nodes()[n].ID
	want := (r.room.Free(n)/unit + 1) * unit
	for _, t := range r.tenants {
		if have := on(t.flex, id); have > 0 && !t.pinned && r.room.Free(n) < want {
			one := r.gpus(t, t.t, 1)
			go_ := min(have, (want-r.room.Free(n)+one-1)/one*one)
			i := slices.IndexFunc(t.flex, func(s cluster.Share) bool { return s.Node == id })
			r.letGo(t, cluster.Placement{some(t.flex[i], go_)})
		}
	}
}

// grow places the flexible workers that a job is granted beyond those it has, as far as there
// is room.
func (r *round) grow(t *tenant) {
	for one := r.gpus(t, t.t, 1); t.base.GPUs()+t.flex.GPUs()+one <= r.gpus(t, t.t, t.workers); {
		w := r.want(t, 1)
		w.Rank = r.rankFlexible()
		where, ok := r.room.Place(w)
		if !ok {
			break
		}
		t.flex = join(t.flex, where)
		r.count(t, nil, where)
	}
	t.workers = r.has(t)
}

// The ranks of nodes on loan, by whom they host.
const (
	alike = 1000 * iota
	empty
	other
)

// rankBase ranks nodes for base workers of a job: on loan, servers that host some, then empty
// ones, then those of flexible workers; among the first, those whose jobs end not much later
// than it will, then those that will be needed least longer for it.
func (r *round) rankBase(t *tenant) func(int) int {
	end := r.end(t)
	return func(n int) int {
		h := &r.nodes[n]
		switch {
		case end.After(h.kept) && !h.kept.IsZero():
			return -1
		case !h.loaned || !r.p.o.Group:
			return 0
		case h.base > 0 && r.p.o.Foresee:
			return alike + hours(h.ends.Sub(end))
		case h.base > 0:
			return alike
		case h.flexible > 0:
			return other
		}
		return empty
	}
}

// hours ranks by how much later, or else how much earlier, than a job the others end.
func hours(later time.Duration) int {
	if later >= 0 {
		return min(249, int(later/time.Hour))
	}
	return 250 + min(249, int(-later/time.Hour))
}

// rankFlexible ranks nodes for flexible workers: on loan, servers that host only such, then
// empty ones, then the others.
func (r *round) rankFlexible() func(int) int {
	return func(n int) int {
		h := &r.nodes[n]
		switch {
		case !h.loaned || !r.p.o.Group:
			return 0
		case h.base > 0:
			return other
		case h.flexible > 0:
			return alike
		}
		return empty
	}
}
