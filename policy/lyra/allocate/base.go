package allocate

import (
	"cmp"
	"slices"
	"time"
)

// base is phase one for a class: waiting jobs get their base demand, the shortest first. A job that does not fit is
// passed over, or with FIFO blocks all behind it. Source: Lyra §5.2, "we schedule job j* with the smallest running
// time".
func (r *round) base(last bool) {
	stopped := false
	for _, t := range r.line(last) {
		r.plan.Ahead[t.job] = r.waiting
		switch w, fits := r.split(t.job, r.free.idle()); {
		case stopped:
			r.plan.Grants[t.job].Why = Behind
			r.waiting++
		case fits:
			r.start(t.job, w)
		default:
			r.plan.Grants[t.job].Why = NoRoom
			r.waiting++
			stopped = r.o.Order == FIFO && r.everFits(t.job)
		}
	}
}

func (r *round) start(i int, w Workers) {
	for s, n := range w {
		r.take(i, Side(s), n)
	}
	r.plan.Grants[i].Why = Runs
}

func (r *round) everFits(i int) bool {
	_, ok := r.split(i, r.free.total())
	return ok
}

type turn struct {
	job  int
	time time.Duration
}

func (r *round) line(last bool) []turn {
	all := r.turns[:0]
	for i := range r.jobs {
		if j := &r.jobs[i]; j.Heterogeneous == last && !j.runs() {
			all = append(all, turn{job: i, time: j.Shortest()})
		}
	}
	if r.o.Order != FIFO {
		slices.SortFunc(all, turn.compare)
	}
	r.turns = all
	return all
}

func (t turn) compare(other turn) int {
	if t.time != other.time {
		return cmp.Compare(t.time, other.time)
	}
	return cmp.Compare(t.job, other.job)
}

type room [sides]int

func (c *Capacity) total() room { return room{c[Training].Total, c[Loaned].Total} }

func (c *Capacity) idle() room { return room{c[Training].Free, c[Loaned].Free} }

// split returns where job i's base demand fits: on its first preferred side. A heterogeneous job takes what fits on
// training, and the rest on loan. Source: Lyra §6, "their base demands are placed on training servers".
func (r *round) split(i int, in room) (w Workers, ok bool) {
	j, c := &r.jobs[i], &r.free
	if j.Heterogeneous {
		own := min(j.Min, c[Training].hosts(j, in[Training]))
		return Workers{own, j.Min - own}, c[Loaned].need(j, j.Min-own) <= in[Loaned]
	}
	for _, s := range j.prefers(&r.o) {
		if c[s].need(j, j.Min) <= in[s] {
			w[s] = j.Min
			return w, true
		}
	}
	return w, false
}
