package backfill

import (
	"maps"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A Comparison states when a job starts and ends in the simulated EASY schedule, and how much of its work is left
// there.
type Comparison struct {
	Option                       // what the twin runs or ran on
	Submitted, Started time.Time // Started: first start in the simulation
	Due                time.Time // expected or actual end in the simulation
	Left               float64   // seconds that the job still needs at its simulated speed
}

// Compare returns the times of job id in the simulated schedule. ok is false if the job is unknown or has not started
// in the simulation.
func (s *Schedule) Compare(id job.ID) (st Comparison, ok bool) {
	t := s.jobs[id]
	if t == nil || t.on < 0 {
		return Comparison{}, false
	}
	o, due := t.options[t.on], t.ended
	if due.IsZero() {
		due = t.end()
	}
	return Comparison{Option: o, Submitted: t.submitted, Started: t.started, Due: due, Left: max(0, t.total-t.reached) / o.Rate}, true
}

// mostVisits bounds the cost of a lookahead: the twins that its events visit.
const mostVisits = 2_000_000

// A lookahead is a copy of the schedule that runs ahead of it.
type lookahead struct {
	Schedule
	from   time.Time
	visits int
}

// Expect predicts the Comparison of a job that still waits in the simulation, assuming that no further job is submitted
// and that all jobs take as long as expected. ok is false if the job does not wait there, would end more than a century
// later, or would start only after too many events.
//
// Cost: the first call after Advance copies the schedule. The copy then runs ahead as far as any call needs, for at
// most mostVisits job visits.
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

func (s *Schedule) lookahead() *lookahead {
	a := &lookahead{from: s.now, Schedule: Schedule{
		now: s.now, length: s.length, types: s.types, pools: make([]pool, len(s.pools)), jobs: maps.Clone(s.jobs), round: s.round,
	}}
	for i := range s.pools {
		a.pools[i] = s.pools[i].clone()
	}
	for id, t := range s.jobs {
		own := *t
		own.profiling = false // its job will be measured by then
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
