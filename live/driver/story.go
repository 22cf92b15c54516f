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

// Story explains why job id waits or runs now, with the cheapest helpful change and the expected start and end if these
// are predicted. It sets seen.At. It returns an *explain.UnknownJobError if the journal lacks the job, and an error if
// no journal is written.
func (d *Driver) Story(ctx context.Context, id job.ID, seen explain.LiveState) (*explain.Story, error) {
	if d.record == nil {
		return nil, errors.New("no journal is written")
	}
	s, err := d.recorded(id, seen)
	if err == nil {
		d.foresee(ctx, s)
	}
	return s, err
}

func (d *Driver) recorded(id job.ID, seen explain.LiveState) (*explain.Story, error) {
	all, err := JournalParts(d.record.Path())
	if err != nil {
		return nil, err
	}
	s, err := d.read(all[max(0, len(all)-lastParts):], id, seen)
	if _, unknown := errors.AsType[*explain.UnknownJobError](err); unknown && len(all) > lastParts {
		return d.read(all, id, seen)
	}
	return s, err
}

// Parts begin with a checkpoint of everything before.
const lastParts = 2

func (d *Driver) read(parts []string, id job.ID, seen explain.LiveState) (*explain.Story, error) {
	f, err := OpenJournal(nil, parts...)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := f.Start()
	if err != nil {
		return nil, err
	}
	seen.At = d.begun.Sub(d.record.Start) + time.Since(d.begun) // the clock may have been set since
	return explain.Live(r, id, seen)
}

func (d *Driver) foresee(ctx context.Context, s *explain.Story) {
	m := s.Moment
	if m == nil || m.Ended || d.ahead == nil {
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
		m.SetChange(m.Change)
	}
	eta, ok := etas[s.Job]
	if !ok {
		return
	}
	if m.Start, m.End = eta.Expected(passed); m.Holds != nil {
		m.Start = nil
	}
}

// unblock returns the cheapest change that would give a job more GPUs, also in words; nil and the reason if it is
// not known.
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
		return nil, "not found within " + whatif.Patience.String()
	case err != nil:
		return nil, "unknown: the last round cannot be decided again"
	}
	return change, change.String()
}
