package explain

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// AtIn is At for a journal in a file. If the journal has checkpoints, it reads only lines that name the job, and the
// parts near the time t and near the changes before and after it.
func AtIn(f *journal.File, id job.ID, t time.Duration) (*Story, error) {
	t = max(t, 0)
	story, err := fromCheckpoints(f, id, t)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if story != nil {
		return story, nil
	}
	r, err := known(f, id)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return At(r, id, t)
}

// LifeIn is Life for a journal in a file.
func LifeIn(f *journal.File, id job.ID) (*Story, error) {
	r, err := known(f, id)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return Life(r, id)
}

func known(f *journal.File, id job.ID) (*journal.Reader, error) {
	all, err := f.Jobs()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(all, id) {
		return nil, &UnknownJobError{id, printable.Closest(id, all)}
	}
	return f.Start()
}

const always = time.Duration(math.MaxInt64)

func fromCheckpoints(f *journal.File, id job.ID, at time.Duration) (*Story, error) {
	marks, err := f.Marks(always)
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	own, err := recordsOf(f, marks, id, at)
	if err != nil || own == nil {
		return nil, err
	}
	t := newJournalReader(f.Header(), id)
	then, err := t.follow(own.records, at)
	if err != nil {
		return nil, err
	}
	parts, err := t.partsToRead(f, marks, then, at)
	if err != nil {
		return nil, err
	}
	return retell(f, own, parts, id, at)
}

// follow applies the records of the job alone, and returns its snapshot at a time. The snapshot is wrong about
// other jobs.
func (t *journalReader) follow(records []journal.Named, at time.Duration) (*snapshot, error) {
	var then *snapshot
	for _, rec := range records {
		if then == nil && rec.At > at {
			then = t.snapshot()
		}
		t.take(rec.Record)
	}
	if then == nil {
		then = t.snapshot()
	}
	return then, t.over()
}

type own struct {
	records []journal.Named
	ended   bool // all records after the moment were searched
	last    journal.Last
}

func recordsOf(f *journal.File, marks []journal.Mark, id job.ID, at time.Duration) (*own, error) {
	n := f.Naming(id)
	end, err := f.End(at)
	if err != nil {
		return nil, err
	}
	begun := false
	later := end
	for i := len(marks); i >= 0 && !begun; i-- {
		from := f.Body()
		if i > 0 {
			from = marks[i-1]
		}
		if !from.Before(later) {
			continue
		}
		if begun, err = n.Prepend(from, later); err != nil {
			return nil, err
		}
		later = from
	}
	return forward(f, n, marks, end, id, at, begun)
}

func forward(f *journal.File, n *journal.Naming, marks []journal.Mark, from journal.Mark, id job.ID, at time.Duration, begun bool) (*own, error) {
	last, err := f.Last()
	if err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		records, err := n.Records()
		if err != nil {
			return nil, err
		}
		if begun = begun || begins(records, id); begun && changes(f, records, id, at) {
			return &own{records, false, last}, nil
		}
		for i < len(marks) && !from.Before(marks[i]) {
			i++
		}
		to := last.End
		if i < len(marks) {
			to = marks[i]
		}
		if !from.Before(to) {
			if !begun {
				return nil, nil
			}
			return &own{records, true, last}, nil
		}
		if err := n.Append(from, to); err != nil {
			return nil, err
		}
		from = to
	}
}

func begins(records []journal.Named, id job.ID) bool {
	for _, rec := range records {
		switch ev := rec.Event.(type) {
		case scheduler.Submitted:
			if ev.Spec.ID == id {
				return true
			}
		case scheduler.Restored:
			if ev.Spec.ID == id {
				return true
			}
		}
	}
	return false
}

func changes(f *journal.File, records []journal.Named, id job.ID, at time.Duration) bool {
	t := newJournalReader(f.Header(), id)
	then, err := t.follow(records, at)
	if err != nil {
		return false
	}
	var m Moment
	t.next(&m, then, at)
	return m.NextAt != nil || then.state.phase.Terminal() && then.state.spec != nil
}

type part struct {
	from, to journal.Mark
	whole    bool // it begins at the start of the journal, not at a checkpoint
}

func (t *journalReader) partsToRead(f *journal.File, marks []journal.Mark, then *snapshot, at time.Duration) ([]part, error) {
	ends := []time.Duration{at}
	for _, c := range t.changes[:then.changes] {
		switch c.What {
		case Started, Resumed, Grown, Shrunk, Moved, Preempted:
			ends[0] = time.Duration(c.At)
		default:
		}
	}
	ends = append(ends, at)
	var m Moment
	if t.next(&m, then, at); m.NextAt != nil {
		ends = append(ends, time.Duration(*m.NextAt))
	}
	var all []part
	for _, end := range ends {
		to, err := f.End(end)
		if err != nil {
			return nil, err
		}
		p := part{f.Body(), to, true}
		for _, mark := range marks {
			if mark.At < end {
				p.from, p.whole = mark, false
			}
		}
		if n := len(all); n > 0 && !all[n-1].to.Before(p.from) {
			all[n-1].to = p.to
			continue
		}
		all = append(all, p)
	}
	return all, nil
}

func retell(f *journal.File, own *own, parts []part, id job.ID, at time.Duration) (*Story, error) {
	t := newJournalReader(f.Header(), id)
	var then *snapshot
	before := func(next time.Duration) {
		if then == nil && next > at {
			then = t.snapshot()
		}
	}
	rest := own.records
	for _, p := range parts {
		for ; len(rest) > 0 && rest[0].In(f.Body(), p.from); rest = rest[1:] {
			before(rest[0].At)
			t.take(rest[0].Record)
		}
		if err := t.readPart(f, p, before); err != nil {
			return nil, err
		}
		for len(rest) > 0 && rest[0].In(p.from, p.to) {
			rest = rest[1:]
		}
	}
	for _, rec := range rest {
		before(rec.At)
		t.take(rec.Record)
	}
	if own.ended {
		before(own.last.At)
		t.now = own.last.At
	}
	if own.last.Cut {
		t.note = cutOff(own.last.At)
	}
	if err := t.over(); err != nil {
		return nil, err
	}
	return t.story(then, at), nil
}

func (t *journalReader) readPart(f *journal.File, p part, before func(time.Duration)) error {
	r, c, err := f.Part(p.from, p.to)
	if err != nil {
		return err
	}
	if c != nil {
		before(c.At)
		t.restoreFrom(c)
	}
	for rec, err := range r.Records() {
		if errors.Is(err, journal.ErrTruncated) {
			return nil
		}
		if err != nil {
			return err
		}
		before(rec.At)
		t.take(rec)
	}
	return nil
}

func (w *clusterState) restoreFrom(c *journal.Checkpoint) {
	w.cluster, w.rentals, w.prices, w.refused = c.Nodes.Cluster, c.Nodes.Rentals, c.Prices, c.Refused
	w.gains, w.now, w.lastRound = newGains(), c.At, c.At
	clear(w.freed)
	clear(w.jobs)
	for i := range c.Jobs {
		j := &c.Jobs[i]
		r := &row{spec: j.Spec, holds: j.Status.Allocation, on: j.Status.Placement}
		if j.Decision != nil {
			r.why, r.ruled = j.Decision.Why, true
		}
		w.jobs[j.Spec.ID] = r
	}
}
