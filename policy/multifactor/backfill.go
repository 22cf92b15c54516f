package multifactor

import (
	"slices"
	"time"
)

func (r *round) backfill(o *Backfill) {
	last := -1
	tested := r.line[:min(o.Tests, len(r.line))]
	for k := range tested {
		if at := &tested[k]; !at.done && r.fits(at) {
			last = k
		}
	}
	if last < 0 {
		return
	}
	for k := range tested[:last+1] {
		if at := &tested[k]; !at.done && len(at.wants) > 0 {
			r.startOrReserve(at, o.Horizon)
		}
	}
}

func (r *round) startOrReserve(at *place, horizon time.Duration) {
	best, w, on := never, (*want)(nil), []int(nil)
	for i := range at.wants {
		if r.closed[at.wants[i].t] {
			continue
		}
		if in, nodes := r.nodes.earliest(&at.wants[i], at.limit, horizon); in < best {
			best, w, on = in, &at.wants[i], nodes
		}
	}
	switch {
	case w == nil || best > horizon:
		return
	case best == 0:
		r.give(at, w, on)
		return
	}
	at.starts = best
	r.nodes.reserve(on, reserved{best, best + at.limit})
}

type reserved struct{ from, to time.Duration }

func (n *nodes) reserve(on []int, t reserved) {
	for _, i := range on {
		n.all[i].reserved = append(n.all[i].reserved, t)
	}
	for _, edge := range []time.Duration{t.from, t.to} {
		if at, there := slices.BinarySearch(n.edges, edge); !there {
			n.edges = slices.Insert(n.edges, at, edge)
		}
	}
}

func (m *node) open(from, to time.Duration) bool {
	return !slices.ContainsFunc(m.reserved, func(r reserved) bool { return from < r.to && r.from < to })
}

func (n *nodes) later(at time.Duration) (time.Duration, bool) {
	i, there := slices.BinarySearch(n.edges, at)
	if there {
		i++
	}
	if i == len(n.edges) {
		return 0, false
	}
	return n.edges[i], true
}

// earliest returns the earliest start of a want and its nodes, as the backfill scheduler finds it; never beyond the
// horizon. It tries now, and then each edge of a reservation. In a try, only nodes that stay open while the job lasts
// count, and running jobs end in turn until enough is free. If that is after the next edge, or the nodes are reserved
// by then, it tries that later time. Source: Slurm's sched/backfill, _attempt_backfill, TRY_LATER.
func (n *nodes) earliest(w *want, lasts, horizon time.Duration) (time.Duration, []int) {
	for at := time.Duration(0); at <= horizon; {
		edge, more := n.later(at)
		in, on := n.willRun(w, at, lasts)
		in = max(in, at)
		switch {
		case on == nil && !more:
			return never, nil
		case on == nil, more && in > edge:
			at = edge
		case slices.ContainsFunc(on, func(i int) bool { return !n.all[i].open(in, in+lasts) }):
			at = in
		default:
			return in, on
		}
	}
	return never, nil
}

// firstWindow is the time within which ends of running jobs count as simultaneous. It doubles for
// each later group. Source: Slurm's select/cons_tres, _will_run_test.
const firstWindow = 30 * time.Second

func (n *nodes) willRun(w *want, at, lasts time.Duration) (time.Duration, []int) {
	n.able, n.free = n.able[:0], append(n.free[:0], make([]room, len(n.all))...)
	enough := 0
	for _, i := range n.byType[w.t] {
		m := &n.all[i]
		if !m.open(at, at+lasts) {
			continue
		}
		n.free[i] = room{Resources: m.free, open: true, covers: covers(&m.free, &w.each)}
		if n.free[i].covers {
			enough++
		}
	}
	if enough >= w.nodes {
		return 0, n.choose(w)
	}
	window := firstWindow
	var first time.Duration
	for k := range n.ends {
		e := &n.ends[k]
		f := &n.free[e.node]
		if !f.open {
			continue
		}
		if first == 0 {
			first = n.in(e)
		}
		f.GPUs, f.CPUs, f.Memory = f.GPUs+e.GPUs, f.CPUs+e.CPUs, f.Memory+e.Memory
		if !f.covers && covers(&f.Resources, &w.each) {
			f.covers, enough = true, enough+1
		}
		if k+1 < len(n.ends) && n.in(&n.ends[k+1]) <= first+window {
			continue
		}
		if enough >= w.nodes {
			return n.in(e), n.choose(w)
		}
		first, window = 0, 2*window
	}
	if enough >= w.nodes {
		return n.in(&n.ends[len(n.ends)-1]), n.choose(w)
	}
	return never, nil
}
