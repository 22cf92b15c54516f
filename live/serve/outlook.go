package serve

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/explain"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/whatif"
)

// foresee adds to a story of now what no recording says: the cheapest change that would help
// the job, and when it is to start and to end.
func (d *desk) foresee(ctx context.Context, s *explain.Story) {
	m := s.Moment
	if m == nil {
		return
	}
	s.Note, m.Next, m.NextAt = "", "", nil // the moment is now
	ctx, cancel := context.WithTimeout(ctx, whatif.Patience)
	defer cancel()
	m.Unblock = d.unblock(ctx, s.Job)
	etas, from := d.ahead.Look(ctx)
	eta, ok := etas[s.Job]
	if !ok {
		return
	}
	passed := d.record.Start.Add(time.Duration(m.At)).Sub(from)
	if m.Holds == nil {
		m.Start = expected(eta.Start, passed)
	}
	m.End = expected(eta.End, passed)
}

// unblock returns the cheapest change that would give a job more GPUs; empty if that is not
// known.
func (d *desk) unblock(ctx context.Context, id job.ID) string {
	s, o := d.ahead.State()
	if s == nil {
		return ""
	}
	change, err := whatif.Unblock(ctx, s, id, o)
	if err != nil {
		return ""
	}
	return change.String()
}

// expected returns when something is to happen, some time after that was foreseen.
func expected(r whatif.Range, passed time.Duration) *explain.Expected {
	if r.Why != whatif.Known {
		return &explain.Expected{Unknown: r.Why.String()}
	}
	left := func(d time.Duration) journal.Seconds { return journal.Seconds(max(0, d-passed)) }
	return &explain.Expected{Early: left(r.Early), Likely: left(r.Likely), Late: left(r.Late), Open: r.Open}
}
