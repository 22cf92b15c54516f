package backfill

import (
	"maps"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A Comparison states when a job starts and ends in the simulated EASY schedule, and how much work it has left
// there.
type Comparison struct {
	Option                       // what the twin runs or ran on
	Submitted, Started time.Time // Started: first start in the simulation
	Due                time.Time // expected or actual end in the simulation
	Total              float64   // progress of the whole job
	Left               float64   // seconds that the job still needs at its simulated speed
}

// Compare returns the times of job id in the simulated schedule; false while it waits there.
func (s *Schedule) Compare(id job.ID) (st Comparison, ok bool) {
	t := s.jobs[id]
	if t == nil || t.on < 0 {
		return Comparison{}, false
	}
	o, due := t.options[t.on], t.ended
	if due.IsZero() {
		due = t.end()
	}
	return Comparison{Option: o, Submitted: t.submitted, Started: t.started, Due: due, Total: t.total, Left: max(0, t.total-t.reached) / o.Rate}, true
}

// mostVisits bounds the cost of a lookahead: the twins that its events visit.
const mostVisits = 2_000_000

// A lookahead is a copy of the schedule that runs ahead of it.
type lookahead struct {
	Schedule
	from   time.Time
	visits int // so far
}

// Expect returns what Compare will return for a twin that waits, once it has started, if no further job comes and all
// jobs take as long as expected. Jobs that come later are behind it in the queue, and may delay it only by backfilling
// on other GPUs than the reserved ones. ok is false if the twin does not wait, ends more than a century later, or
// starts only after too many events.
//
// Cost: the first call after Advance copies all twins. All calls together pass the events until the last of these
// starts, and at most mostVisits twins.
func (s *Schedule) Expect(id job.ID) (st Comparison, ok bool) {
	if t := s.jobs[id]; t == nil || t.on >= 0 {
		return Comparison{}, false
	}
	if s.ahead == nil {
		s.ahead = s.lookahead()
	}
	for {
		if st, ok = s.ahead.Compare(id); ok {
			return st, st.Due.Sub(s.now) <= perf.Endless
		}
		if !s.ahead.step() {
			return Comparison{}, false
		}
	}
}

// step continues to the first round after the next end; false: there is none, or it is too far away.
func (a *lookahead) step() bool {
	next := a.nextEnd()
	if a.visits += len(a.waiting) + len(a.running); next == nil || a.visits > mostVisits {
		return false
	}
	in := next.end().Sub(a.now)
	if next.end().Sub(a.from) > perf.Endless {
		return false
	}
	if a.length > 0 && in%a.length != 0 {
		in += a.length - in%a.length
	}
	a.turn(a.now.Add(in))
	a.fill()
	return true
}

// lookahead returns a copy of the schedule. It shares the options of twins, which only jobs change.
func (s *Schedule) lookahead() *lookahead {
	a := &lookahead{from: s.now, Schedule: Schedule{
		now: s.now, length: s.length, types: s.types, pools: make([]pool, len(s.pools)), jobs: maps.Clone(s.jobs), round: s.round,
	}}
	for i := range s.pools {
		a.pools[i] = s.pools[i].clone()
	}
	for id, t := range s.jobs {
		own := *t
		a.jobs[id] = &own
	}
	own := func(all []*virtualJob) []*virtualJob {
		copies := make([]*virtualJob, len(all))
		for i, t := range all {
			copies[i] = a.jobs[t.id]
		}
		return copies
	}
	a.waiting, a.running = own(s.waiting), own(s.running)
	return a
}
