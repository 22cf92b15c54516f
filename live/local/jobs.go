package local

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

var newQueue = driver.NewQueue

const maxFailures = 3

// A jobTable passes changes to the store first, then to the table, then to the scheduler.
type jobTable struct {
	*driver.Table[*entry]
	o      *Options
	store  *store.Store
	tokens map[string]job.ID
	full   string // why the state cannot be stored; empty: it can
}

func newJobTable(o *Options, s *store.Store) *jobTable {
	t := &jobTable{o: o, store: s, tokens: map[string]job.ID{}}
	t.Table = driver.NewTable(newQueue(), releaseSlots, t.removeIfOver)
	return t
}

func releaseSlots(e *entry) { e.Held, e.uncommitted = nil, true }

func (t *jobTable) add(e *entry) {
	t.Add(e)
	if !e.Over {
		t.tokens[e.Token] = e.ID
	}
}

func (t *jobTable) removeIfOver(e *entry) {
	if e.Over && len(e.runs) == 0 && !t.EndPending(e.ID) {
		t.Remove(e)
	}
}

func (t *jobTable) lose(e *entry, detail string, wait time.Duration) {
	e.notBefore = time.Now().Add(wait)
	t.Lose(e, detail)
}

func (t *jobTable) end(e *entry, outcome scheduler.Outcome, detail string) bool {
	hook("end: before the record")
	now := t.Events.Present()
	if err := t.wrote(t.store.End(e.Spec.ID, store.Ending{Outcome: outcome, Detail: detail, At: now})); err != nil {
		complain(e.Spec.ID, err)
		return false
	}
	hook("end: recorded")
	t.remember(e, &store.Ending{Outcome: outcome, Detail: detail, At: now})
	delete(t.tokens, e.Token)
	if e.Over = true; !e.withheld { // the scheduler knows it
		t.Conclude(e, outcome, detail)
	}
	driver.Wake(t.Work)
	return true
}

// reportStart reports once per generation that a job trains: again would reset its progress.
func (t *jobTable) reportStart(e *entry, r *run, from *agentapi.Restored) {
	if r.announced {
		return
	}
	r.announced = true
	first := job.Report{Job: e.Spec.ID, Configuration: r.allocation.Configuration}
	if from != nil {
		first.Progress = from.Progress
	}
	t.Events.Emit(scheduler.Reported{Report: first})
}

// A report in e.stored was sent before a restart, and counts once.
func (t *jobTable) report(e *entry, r *job.Report) error {
	if slices.Contains(e.stored, *r) {
		return nil
	}
	err := t.wrote(t.store.Report(e.Spec.ID, t.Events.Present(), r))
	if err == nil {
		t.Events.Emit(scheduler.Reported{Report: *r})
	}
	return err
}

func (t *jobTable) describe(e *entry, spec *job.Spec) error {
	if _, limited := t.o.Quotas.most(e.Request.User); limited {
		spec = bounded(spec, t.mostOf(e.Spec))
	}
	if reflect.DeepEqual(spec, e.Spec) {
		return nil
	}
	if err := t.wrote(t.store.Describe(spec.ID, spec)); err != nil {
		return err
	}
	e.Spec = spec
	t.remember(e, nil)
	t.Events.Emit(scheduler.Described{Spec: spec})
	return nil
}

func (t *jobTable) findSilent() {
	for _, e := range t.Order {
		if e.Over || e.Silent || e.Heard.IsZero() || e.current() == nil || time.Since(e.Heard) < t.o.Silence {
			continue
		}
		e.Silent = true
		t.Events.Emit(scheduler.Described{Spec: driver.Rigid(e.Spec, len(e.Held))})
	}
}

func (t *jobTable) notSilent(e *entry) {
	if e.Silent {
		e.Silent = false
		t.Events.Emit(scheduler.Described{Spec: e.Spec})
	}
}

func (t *jobTable) observed(e *entry, r *run, o *statedir.Observation) {
	switch {
	case o.Over():
		t.runEnded(e, r, o)
	case o.State.Phase == supervisor.Running || o.State.Phase == supervisor.Stopping:
		r.up = true
		// A program with the client reports this itself.
		if !e.hasClient && r == e.current() && time.Since(r.began) >= t.o.Quiet {
			t.reportStart(e, r, nil)
		}
	case o.State.Phase == supervisor.Absent: // a crash came before the start, or it failed
		e.drop(r)
	}
	t.removeIfOver(e)
}

func (t *jobTable) runEnded(e *entry, r *run, o *statedir.Observation) {
	written := true
	switch {
	case e.Over:
	case e.hasClient && o.Succeeded(): // even if it was to stop
		written = t.end(e, scheduler.Done, "")
	case r == e.current():
		written = t.settle(e, r, o)
	}
	if written {
		e.drop(r)
		driver.Wake(t.Work)
	}
}

var backoff = time.Second

func (t *jobTable) settle(e *entry, r *run, o *statedir.Observation) bool {
	if o.Succeeded() {
		return t.end(e, scheduler.Done, "")
	}
	detail, stopped, n := o.Detail(), o.StoppedOnNotice(), e.Failures+1
	switch {
	case stopped && e.checkpointStep() > r.step:
		t.lose(e, "stopped after a checkpoint: "+detail, 0)
		return true
	case !e.hasClient && !stopped:
		return t.end(e, scheduler.Failed, detail+o.LastLines())
	case n >= maxFailures:
		return t.end(e, scheduler.Failed, fmt.Sprintf("failed %d times without a new checkpoint: %s%s", n, detail, o.LastLines()))
	}
	e.Failures = n
	t.lose(e, detail, backoff<<n)
	return true
}

func (t *jobTable) remember(e *entry, ended *store.Ending) {
	f := statedir.Folders{Dir: t.o.Dir, Identity: t.store.Identity()}
	if err := statedir.WriteRecord(&f, &e.Job, ended); err != nil {
		complain(e.Spec.ID, err)
	}
}

func (t *jobTable) wrote(err error) error {
	switch {
	case err == nil:
		t.full = ""
	case errors.Is(err, store.ErrFull):
		t.full = "cannot store what happens to jobs; retrying: " + err.Error()
	}
	return err
}

func complaint(id job.ID, err error) string {
	return printable.Line(fmt.Sprintf("job %s: %v", id, err))
}

func complain(id job.ID, err error) {
	fmt.Fprintln(os.Stderr, complaint(id, err))
}
