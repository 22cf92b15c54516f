package backfill

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy/profile"
)

// ahead is the number of waiting twins whose starts are forecast.
const ahead = 1000

type expectation struct {
	option int
	in     time.Duration // from now
}

// Expect returns what Compare is expected to return later for a twin that waits, if no more jobs are submitted. ok is
// false if it does not wait, has no end in sight, or more than ahead twins wait before it.
func (s *Schedule) Expect(id job.ID) (st Comparison, ok bool) {
	t := s.jobs[id]
	if t == nil || t.on >= 0 {
		return Comparison{}, false
	}
	if s.expected == nil {
		s.forecast()
	}
	e, ok := s.expected[t]
	if !ok {
		return Comparison{}, false
	}
	start := s.now.Add(e.in)
	return t.comparison(e.option, start, start.Add(t.lasts(&t.options[e.option]))), true
}

// forecast reserves GPUs for waiting twins in the order of the queue: conservative backfilling, which counts GPUs and
// ignores nodes. It costs a pass over the running and reserved twins for each.
func (s *Schedule) forecast() {
	ends := make([][]profile.Step, len(s.pools))
	for _, t := range s.running {
		o := &t.options[t.on]
		k := s.typeOf(o.GPUType)
		ends[k] = append(ends[k], profile.Step{In: min(max(0, t.end().Sub(s.now)), perf.Endless), Free: o.GPUs})
	}
	free := make([]profile.Profile, len(s.pools))
	for k := range free {
		free[k] = profile.New(s.pools[k].total, ends[k])
	}
	s.expected = make(map[*virtualJob]expectation)
	for _, t := range s.waiting[:min(ahead, len(s.waiting))] {
		s.await(t, free)
	}
}

func (s *Schedule) await(t *virtualJob, free []profile.Profile) {
	best := expectation{option: -1}
	var end time.Duration
	for i := range t.options {
		o := &t.options[i]
		k := s.typeOf(o.GPUType)
		if k < 0 {
			continue
		}
		lasts := min(t.lasts(o), perf.Endless)
		if in, ok := free[k].Earliest(o.GPUs, lasts); ok && in+lasts <= perf.Endless && (best.option < 0 || in+lasts < end) {
			best, end = expectation{i, in}, in+lasts
		}
	}
	if best.option < 0 {
		return
	}
	o := &t.options[best.option]
	free[s.typeOf(o.GPUType)].Take(o.GPUs, best.in, end-best.in)
	s.expected[t] = best
}
