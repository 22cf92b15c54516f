package multifactor

import (
	"cmp"
	"slices"
	"time"
)

// backfill goes down the queue: each job starts, or is given a reservation. No later job starts then
// than the last that would fit now if nothing were reserved, so those behind it are not tested.
func (r *round) backfill(o *Backfill) {
	last := -1
	tested := r.line[:min(o.Tests, len(r.line))]
	for k := range tested {
		if at := &tested[k]; !at.done && r.fits(at) {
			last = k
		}
	}
	for k := range tested[:last+1] {
		if at := &tested[k]; !at.done && len(at.wants) > 0 {
			r.startOrReserve(at, o.Horizon)
		}
	}
}

// startOrReserve starts a job where it can begin now without a job ahead of it starting later, or reserves the
// nodes on which it can begin first, if that is within the window.
func (r *round) startOrReserve(at *place, horizon time.Duration) {
	best, w := never, (*want)(nil)
	for i := range at.wants {
		if r.closed[at.wants[i].t] {
			continue
		}
		if in := r.nodes.earliest(&at.wants[i], at.limit); in < best {
			best, w = in, &at.wants[i]
		}
	}
	if w == nil || best > horizon {
		return
	}
	on := r.nodes.pick(w, best, at.limit)
	if best == 0 {
		r.give(at, w, on)
		return
	}
	at.starts = best
	for _, i := range on {
		r.nodes.all[i].reserve(reserved{best, best + at.limit})
	}
}

// reserve adds a time to those at which a node is reserved.
func (m *node) reserve(t reserved) {
	at, _ := slices.BinarySearchFunc(m.reserved, t, func(a, b reserved) int { return cmp.Compare(a.from, b.from) })
	m.reserved = slices.Insert(m.reserved, at, t)
}
