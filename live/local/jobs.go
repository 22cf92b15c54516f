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

// newQueue makes the queue of events; tests give it another clock.
var newQueue = driver.NewQueue

// maxFailures is how many generations in a row may fail without a new checkpoint.
const maxFailures = 3

// A jobTable is the table of jobs, and writes what matters after a crash: a change is made first in
// the store, then in the table, then as an event.
type jobTable struct {
	*driver.Table[*entry]
	o      *Options
	store  *store.Store
	tokens map[string]job.ID
	full   string // why what happens cannot be written, for people; empty: it can
}

func newJobTable(o *Options, s *store.Store) *jobTable {
	t := &jobTable{o: o, store: s, tokens: map[string]job.ID{}}
	t.Table = driver.NewTable(newQueue(), freed, t.removeIfOver)
	return t
}

// freed records that the scheduler knows that a job was lost: it holds no slots from now on, and the
// next plan says so.
func freed(e *entry) { e.Held, e.uncommitted = nil, true }

// add adds a job. Its token counts until it ends.
func (t *jobTable) add(e *entry) {
	t.Add(e)
	if !e.Over {
		t.tokens[e.Token] = e.ID
	}
}

// removeIfOver removes a job that has ended, whose processes are gone, and of whose end the
// scheduler has heard.
func (t *jobTable) removeIfOver(e *entry) {
	if e.Over && len(e.runs) == 0 && !t.EndPending(e.ID) {
		t.Remove(e)
	}
}

// lose reports that a job's generation is over without its end; it may start again after a
// time.
func (t *jobTable) lose(e *entry, detail string, wait time.Duration) {
	e.NotBefore = time.Now().Add(wait)
	t.Lose(e, detail)
}

// end ends a job for good, durably. It reports whether that could be written.
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

// runs reports to the scheduler, once for each generation, that a job trains, from a checkpoint or
// from its beginning. A second report would set its progress back.
func (t *jobTable) runs(e *entry, r *run, from *agentapi.Restored) {
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

// report stores measurements and tells the scheduler of them. A report that the store had when this
// scheduler began is sent again by an agent that got no answer, or late, and counts once.
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

// describe tells the scheduler what a job is, if that is news.
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

// findSilent describes jobs whose agents have sent nothing for Options.Silence as rigid: they keep
// what they hold until their agents send a message again.
func (t *jobTable) findSilent() {
	for _, e := range t.Order {
		if e.Over || e.Silent || e.Heard.IsZero() || e.current() == nil || time.Since(e.Heard) < t.o.Silence {
			continue
		}
		e.Silent = true
		rigid := *e.Spec
		rigid.Adaptivity &^= job.GPUCount | job.BatchSizes
		rigid.GPUs = len(e.Held)
		t.Events.Emit(scheduler.Described{Spec: &rigid})
	}
}

// notSilent describes a silent job by its own specification again.
func (t *jobTable) notSilent(e *entry) {
	if e.Silent {
		e.Silent = false
		t.Events.Emit(scheduler.Described{Spec: e.Spec})
	}
}

// observed takes over what was observed of a run.
func (t *jobTable) observed(e *entry, r *run, o *statedir.Observation) {
	switch {
	case o.Over():
		t.over(e, r, o)
	case o.State.Phase == supervisor.Running || o.State.Phase == supervisor.Stopping:
		r.up = true
		// One with a client says itself when it trains.
		if !e.spoke && r == e.current() && time.Since(r.began) >= t.o.Quiet {
			t.runs(e, r, nil)
		}
	case o.State.Phase == supervisor.Absent: // a crash came before the start, or it failed
		e.drop(r)
	}
	t.removeIfOver(e)
}

// over takes over that a generation has ended. What cannot be written is tried again at the
// next observation.
func (t *jobTable) over(e *entry, r *run, o *statedir.Observation) {
	written := true
	switch {
	case e.Over:
	case e.spoke && o.Succeeded(): // also if it was to stop
		written = t.end(e, scheduler.Done, "")
	case r == e.current():
		written = t.settle(e, r, o)
	}
	if written {
		e.drop(r)
		driver.Wake(t.Work)
	}
}

// backoff is half the time from a first failure to the next start; each further one in a row
// doubles it. Tests shorten it.
var backoff = time.Second

// settle decides what the end of the planned generation means for its job: the job is done,
// has failed, or was lost and starts again. It reports whether that could be written.
func (t *jobTable) settle(e *entry, r *run, o *statedir.Observation) bool {
	if o.Succeeded() {
		return t.end(e, scheduler.Done, "")
	}
	detail, stopped, n := o.Detail(), o.StoppedOnNotice(), e.Failures+1
	switch {
	case stopped && e.checkpointStep() > r.step:
		t.lose(e, "stopped after a checkpoint: "+detail, 0)
		return true
	case !e.spoke && !stopped:
		return t.end(e, scheduler.Failed, detail+o.LastLines())
	case n >= maxFailures:
		return t.end(e, scheduler.Failed, fmt.Sprintf("failed %d times without a new checkpoint: %s%s", n, detail, o.LastLines()))
	}
	e.Failures = n
	t.lose(e, detail, backoff<<n)
	return true
}

// remember writes into the folder of a job what the store would be rebuilt from. That is a spare:
// if it cannot be written, that is said, and no more.
func (t *jobTable) remember(e *entry, ended *store.Ending) {
	f := statedir.Folders{Dir: t.o.Dir, Identity: t.store.Identity()}
	if err := statedir.WriteRecord(&f, &e.Job, ended); err != nil {
		complain(e.Spec.ID, err)
	}
}

// wrote records whether the disk has room, by the error err of a write to the store, and returns err.
func (t *jobTable) wrote(err error) error {
	switch {
	case err == nil:
		t.full = ""
	case errors.Is(err, store.ErrFull):
		t.full = "cannot write down what happens to jobs, and tries again: " + err.Error()
	}
	return err
}

// complaint returns one line about a job, whatever the texts of its user and its files have in them.
func complaint(id job.ID, err error) string {
	return printable.Line(fmt.Sprintf("job %s: %v", id, err))
}

// complain says what went wrong with a job.
func complain(id job.ID, err error) {
	fmt.Fprintln(os.Stderr, complaint(id, err))
}
