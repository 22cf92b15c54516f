package allocate

import (
	"cmp"
	"slices"
	"time"
)

// base is phase one for the jobs of a class that wait: the shortest first, each gets its base
// demand if it fits, and what does not is passed over. Source: Lyra §5.2, "we schedule job j*
// with the smallest running time".
func (r *round) base(last bool) {
	q := counter{free: &r.free}
	for _, t := range r.line(last) {
		j, g := &r.jobs[t.job], &r.plan.Grants[t.job]
		*g = q.admit(j)
		if g.Why != Runs {
			r.wait(&q, j)
		}
	}
}

// wait lets j, which does not fit, hold up others: all that come after it by FIFO; by SJF
// those on the sides that it needs, if it has waited too long.
func (r *round) wait(q *counter, j *Job) {
	w, ever := r.free.split(j, q.total())
	switch {
	case !ever:
	case r.o.Order == FIFO:
		q.stopped = true
	case r.overdue(j):
		q.held[Training] = q.held[Training] || w[Training] > 0
		q.held[Loaned] = q.held[Loaned] || w[Loaned] > 0
	}
}

// overdue says that j has waited too long.
func (r *round) overdue(j *Job) bool { return r.o.Patience > 0 && j.Waited >= r.o.Patience }

// A turn is a waiting job's.
type turn struct {
	job  int
	late time.Duration // what it has waited, if too long
	time time.Duration // its minimum running time, if not
}

// line returns the jobs of a class that wait: those that have waited too long, the longest
// first, then the others by their minimum running time. Equals stay in the order given, and
// by FIFO all do.
func (r *round) line(last bool) []turn {
	all := r.turns[:0]
	for i := range r.jobs {
		if j := &r.jobs[i]; j.Heterogeneous == last && !j.runs() {
			all = append(all, r.turn(i))
		}
	}
	if r.o.Order != FIFO {
		slices.SortFunc(all, turn.compare)
	}
	r.turns = all
	return all
}

// turn returns that of job i.
func (r *round) turn(i int) turn {
	if j := &r.jobs[i]; r.overdue(j) {
		return turn{job: i, late: j.Waited}
	}
	return turn{job: i, time: r.jobs[i].Shortest()}
}

func (t turn) compare(other turn) int {
	switch {
	case t.late != other.late:
		return cmp.Compare(other.late, t.late)
	case t.time != other.time:
		return cmp.Compare(t.time, other.time)
	}
	return cmp.Compare(t.job, other.job)
}

// A counter is what those in line come to: the GPUs that are free.
type counter struct {
	free    *Capacity
	held    [sides]bool // for a job that waited too long
	stopped bool        // for all
}

// admit gives j its base demand where it fits and is not held.
func (q *counter) admit(j *Job) Grant {
	if q.stopped {
		return Grant{Why: Behind}
	}
	if w, ok := q.free.split(j, q.open()); ok {
		for s, n := range w {
			q.free[s].Free -= q.free[s].need(j, n)
		}
		return Grant{Has: w, Why: Runs}
	}
	if _, ok := q.free.split(j, q.idle()); ok {
		return Grant{Why: Held}
	}
	return Grant{Why: NoRoom}
}

// A room is GPUs of each side.
type room [sides]int

// total returns all GPUs.
func (q *counter) total() room { return room{q.free[Training].Total, q.free[Loaned].Total} }

// idle returns the GPUs that are free.
func (q *counter) idle() room { return room{q.free[Training].Free, q.free[Loaned].Free} }

// open returns the GPUs that are free and not held.
func (q *counter) open() room {
	free := q.idle()
	for s, held := range q.held {
		if held {
			free[s] = 0
		}
	}
	return free
}

// split returns where the base demand of j fits in so much room, if it does: on the first side
// that it prefers; of a heterogeneous job as much as fits on training, and the rest on loan.
// Source: Lyra §6, "their base demands are placed on training servers".
func (c *Capacity) split(j *Job, in room) (w Workers, ok bool) {
	if j.Heterogeneous {
		own := min(j.Min, c[Training].hosts(j, in[Training]))
		return Workers{own, j.Min - own}, c[Loaned].need(j, j.Min-own) <= in[Loaned]
	}
	for _, s := range j.prefers() {
		if c[s].need(j, j.Min) <= in[s] {
			w[s] = j.Min
			return w, true
		}
	}
	return w, false
}
