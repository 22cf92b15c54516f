package driver

import (
	"context"
	"errors"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// Up says whether processes of a job run whose program has not said yet whether it trains.
type Up bool

// What a Backend sees of a job.
const (
	Unseen  Up = false // what the journal says is all that is known
	Running Up = true
)

// Story explains a job as it is now, and as its backend sees it: the journal says what happened and why, and a look ahead
// adds the cheapest change that would help the job, and when it is to start and end. It
// returns an *explain.UnknownJobError if the journal has no such job, and an error if no
// journal is written. It reads the last parts of the journal, and those before only if they do not know the job.
func (d *Driver) Story(ctx context.Context, id job.ID, up Up) (*explain.Story, error) {
	if d.record == nil {
		return nil, errors.New("no journal is written")
	}
	s, err := d.recorded(id, up)
	if err == nil {
		d.foresee(ctx, s)
	}
	return s, err
}

// recorded returns what the journal says of a job up to now.
func (d *Driver) recorded(id job.ID, up Up) (*explain.Story, error) {
	all, err := JournalParts(d.record.Path())
	if err != nil {
		return nil, err
	}
	s, err := d.read(all[max(0, len(all)-lastParts):], id, up)
	if _, unknown := errors.AsType[*explain.UnknownJobError](err); unknown && len(all) > lastParts {
		return d.read(all, id, up)
	}
	return s, err
}

// lastParts is how many parts of a journal are read for a job that has not ended long ago: what came before
// is in the checkpoint with which they begin.
const lastParts = 2

// read returns what parts of the journal say of a job up to now.
func (d *Driver) read(parts []string, id job.ID, up Up) (*explain.Story, error) {
	f, err := OpenJournal(nil, parts...)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := f.Start()
	if err != nil {
		return nil, err
	}
	at := d.begun.Sub(d.record.Start) + time.Since(d.begun) // the clock may have been set since
	return explain.Live(r, id, explain.Seen{At: at, Up: bool(up)})
}

// foresee adds to a story of now what no recording says: what would help the job, and when it
// is to start and to end.
func (d *Driver) foresee(ctx context.Context, s *explain.Story) {
	m := s.Moment
	if m == nil || d.ahead == nil {
		return
	}
	if m.Ended {
		return
	}
	if terms, ok := d.again.weighed(ctx, s.Job); ok {
		m.Weigh(terms)
	}
	last, _ := d.ahead.Last()
	if cost, ok := last.SeveralRacks(s.Job); ok {
		m.Cross(cost)
	}
	etas, from := d.ahead.Look(ctx)
	passed := d.record.Start.Add(time.Duration(m.At)).Sub(from)
	if m.Unblockable() {
		m.Change, m.Unblock = d.unblock(ctx, s.Job, whatif.Ends(etas, passed))
	}
	if m.Change != nil {
		whatif.Until(m.Change, s.Job, etas, passed)
		m.Unblock = m.Change.String()
	}
	eta, ok := etas[s.Job]
	if !ok {
		return
	}
	if m.Holds == nil {
		m.Start = expected(eta.Start, passed)
	}
	m.End = expected(eta.End, passed)
}

// unblock returns the cheapest change that would give a job more GPUs, also in words, where it is known in how long some
// jobs end; nil and why not if it is not known. It decides the last round again for whatif.Patience at most.
func (d *Driver) unblock(ctx context.Context, id job.ID, ends map[job.ID]time.Duration) (*counterfactual.Change, string) {
	ctx, cancel := context.WithTimeout(ctx, whatif.Patience)
	defer cancel()
	var change *counterfactual.Change
	round, err := d.again.last(ctx)
	if err == nil {
		change, err = round.find(ctx, id, ends)
	}
	switch {
	case ctx.Err() != nil:
		return nil, "not found in " + whatif.Patience.String()
	case err != nil:
		return nil, "not known: the last round cannot be decided again"
	}
	return change, change.String()
}

// expected returns a range of a prediction as seen a time after it was made.
func expected(r whatif.Range, passed time.Duration) *explain.Expected {
	if r.Why != whatif.Known {
		return &explain.Expected{Unknown: r.Why.String()}
	}
	return explain.ExpectedIn(&r.Range, r.Open, passed)
}
