package backfill

import (
	"cmp"
	"slices"
	"time"
)

// A round starts twins as policy easy starts jobs in a round. It counts free GPUs; nodes are chosen only afterwards.
type round struct {
	s       *Schedule
	free    []int // by type
	head    *reservation
	granted []start
}

type start struct {
	*virtualJob
	option int
}

func (g *start) on() *Option { return &g.options[g.option] }

type reservation struct {
	kind  int           // index of the GPU type; -1: it never fits
	in    time.Duration // from now until enough GPUs are free
	extra int           // GPUs that will be left over then
}

// fill starts waiting twins as EASY does. The first that does not fit gets a reservation. A twin behind it starts
// only if that does not delay the reservation: on another type, if it ends before, or on GPUs that will be left over.
// Source: Lifka 1995, §2.
func (s *Schedule) fill() {
	r := &round{s: s}
	for k := range s.pools {
		r.free = append(r.free, s.pools[k].total)
	}
	for _, t := range s.waiting {
		if r.head != nil && r.full() {
			break
		}
		if t.profiling && !t.gone {
			continue
		}
		if i := r.fastest(t); i >= 0 {
			r.grant(t, i)
		} else if r.head == nil {
			r.head = r.reserve(t)
		}
	}
	s.place(r.granted)
}

func (r *round) full() bool {
	return !slices.ContainsFunc(r.free, func(n int) bool { return n > 0 })
}

func (r *round) fastest(t *virtualJob) int {
	best, on := -1, -1
	for i := range t.options {
		o := &t.options[i]
		k := r.s.typeOf(o.GPUType)
		if k < 0 || o.GPUs > r.free[k] || r.head.outlasted(k, t.lasts(o)) && o.GPUs > r.head.extra {
			continue
		}
		if best < 0 || o.Rate > t.options[best].Rate || o.Rate == t.options[best].Rate && r.free[k] > r.free[on] {
			best, on = i, k
		}
	}
	return best
}

func (r *reservation) outlasted(k int, lasts time.Duration) bool {
	return r != nil && r.kind == k && lasts > r.in
}

func (r *round) grant(t *virtualJob, i int) {
	o := &t.options[i]
	k := r.s.typeOf(o.GPUType)
	r.free[k] -= o.GPUs
	r.granted = append(r.granted, start{t, i})
	if r.head.outlasted(k, t.lasts(o)) {
		r.head.extra -= o.GPUs
	}
}

func (r *round) reserve(t *virtualJob) *reservation {
	best, end := &reservation{kind: -1}, time.Duration(0)
	for i := range t.options {
		o := &t.options[i]
		k := r.s.typeOf(o.GPUType)
		if k < 0 {
			continue
		}
		in, extra := r.expect(k, o.GPUs)
		if extra >= 0 && (best.kind < 0 || in+t.lasts(o) < end) {
			best, end = &reservation{k, in, extra}, in+t.lasts(o)
		}
	}
	return best
}

// expect returns when so many GPUs of type k will be free, and how many more (-1: never). Twins that are overdue hold
// their GPUs for another round.
func (r *round) expect(k, gpus int) (in time.Duration, extra int) {
	ends := r.ends(k)
	slices.SortFunc(ends, func(a, b release) int { return cmp.Compare(a.in, b.in) })
	free := r.free[k]
	for _, e := range ends {
		if free >= gpus && e.in > in {
			break
		}
		in, free = e.in, free+e.gpus
	}
	return in, max(-1, free-gpus)
}

type release struct {
	in   time.Duration
	gpus int
}

func (r *round) ends(k int) (all []release) {
	add := func(o *Option, in time.Duration) {
		if r.s.typeOf(o.GPUType) == k {
			all = append(all, release{max(in, r.s.length), o.GPUs})
		}
	}
	for _, t := range r.s.running {
		add(&t.options[t.on], t.end().Sub(r.s.now))
	}
	for i := range r.granted {
		g := &r.granted[i]
		add(g.on(), g.lasts(g.on()))
	}
	return all
}
