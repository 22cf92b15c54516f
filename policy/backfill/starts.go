package backfill

import (
	"maps"
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

// mostVisits bounds the cost of Starts: the twins that its events visit.
const mostVisits = 2_000_000

// Starts returns the Comparisons of waiting twins as of their starts, if no further job comes and all jobs take as long
// as expected. Jobs that come later are behind them in the queue, and may delay them only by backfilling on other GPUs
// than the reserved ones. Twins that start only after too many events are missing.
//
// Cost: one pass over all twins, and the events until the last of these starts, at most mostVisits twins in all.
func (s *Schedule) Starts(of []job.ID) map[job.ID]Comparison {
	then, found := s.clone(), make(map[job.ID]Comparison, len(of))
	for left := mostVisits; left > 0 && len(of) > 0; left -= len(then.waiting) + len(then.running) {
		next := then.nextEnd()
		if next == nil {
			break
		}
		then.pass(next.end())
		then.finish(next)
		then.fill()
		of = slices.DeleteFunc(slices.Clone(of), func(id job.ID) bool {
			st, ok := then.Compare(id)
			if ok {
				found[id] = st
			}
			return ok
		})
	}
	return found
}

// clone returns a copy of the schedule that can run ahead. It shares the options of twins, which only jobs change.
func (s *Schedule) clone() *Schedule {
	c := &Schedule{now: s.now, types: s.types, pools: make([]pool, len(s.pools)), jobs: maps.Clone(s.jobs), round: s.round}
	for i := range s.pools {
		c.pools[i] = s.pools[i].clone()
	}
	for id, t := range s.jobs {
		own := *t
		c.jobs[id] = &own
	}
	own := func(all []*virtualJob) []*virtualJob {
		copies := make([]*virtualJob, len(all))
		for i, t := range all {
			copies[i] = c.jobs[t.id]
		}
		return copies
	}
	c.waiting, c.running = own(s.waiting), own(s.running)
	return c
}
