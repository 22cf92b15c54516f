package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/scheduler"
)

// How often the executor looks at processes that nobody tells it about: those that are to
// start or to stop, and those that merely run.
const (
	glance = 200 * time.Millisecond
	calm   = time.Second
)

// Execute makes the processes equal to the committed plan until ctx is done. It only ever
// compares what is with what is committed, and takes the next step towards it.
func (w *World) Execute(ctx context.Context) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		w.pass()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.work:
		case <-tick.C:
		}
	}
}

// pass looks at all processes once and takes every step that can be taken: first what is
// over, then what has to stop, then what can start.
func (w *World) pass() {
	for _, s := range w.sights() {
		state, err := w.look(s)
		if err != nil {
			w.note(s.id, err)
			continue
		}
		w.saw(s, &state)
	}
	for _, step := range w.steps() {
		if err := step.do(); err != nil {
			w.note(step.job, err)
		}
	}
}

// A sight is a generation to look at.
type sight struct {
	id         job.ID
	generation int
	calm       bool // it ran, and is not to stop
}

// look returns how a generation stands. Of one that merely runs, all there is to know is
// whether it still does; of one whose keeper is gone, that nothing of it is left. The caller
// does not hold the lock: processes may take seconds to die.
func (w *World) look(s sight) (supervisor.State, error) {
	dir := w.folder(s.id, s.generation)
	if s.calm {
		if alive, err := supervisor.Lives(dir); err != nil || alive {
			return supervisor.State{Phase: supervisor.Running}, err
		}
	}
	state, err := supervisor.Look(dir)
	if err == nil && state.Phase == supervisor.Gone {
		err = supervisor.Sweep(Folder(w.o.Dir, s.id), w.tag(s.id, s.generation))
	}
	return state, err
}

// sights returns what it is time to look at.
func (w *World) sights() []sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	var all []sight
	for _, e := range w.order {
		for _, r := range e.runs {
			merely := r.up && r.stop.IsZero()
			if merely && now.Sub(r.looked) < calm {
				continue
			}
			r.looked = now
			all = append(all, sight{e.Spec.ID, r.generation, merely})
		}
	}
	return all
}

// saw takes in how a generation stands.
func (w *World) saw(s sight, state *supervisor.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.jobs[s.id]
	if e == nil {
		return
	}
	i := slices.IndexFunc(e.runs, func(r *run) bool { return r.generation == s.generation })
	if i < 0 {
		return
	}
	r := e.runs[i]
	switch state.Phase {
	case supervisor.Running, supervisor.Stopping:
		r.up = true
		w.announce(e, r)
	case supervisor.Ended, supervisor.Gone:
		w.over(e, r, state)
	case supervisor.Starting:
	case supervisor.Absent: // a start that a crash came before, or that failed
		e.drop(r)
	}
	w.forget(e)
}

// announce tells the scheduler that a job without a client runs. One with a client says so
// itself once it trains.
func (w *World) announce(e *entry, r *run) {
	if r.told || e.spoke || r != e.current() || time.Since(r.began) < w.o.Quiet {
		return
	}
	w.trains(e, r, nil)
}

// over takes in that a generation has ended.
func (w *World) over(e *entry, r *run, state *supervisor.State) {
	settled := true
	switch {
	case e.ended:
	case e.spoke && state.Phase == supervisor.Ended && succeeded(state.Workers): // also if it was to stop
		settled = w.end(e, scheduler.Done, "")
	case r == e.current():
		settled = w.settle(e, r, state)
	}
	if !settled {
		return // it could not be written down: once more at the next glance
	}
	e.drop(r)
	eventqueue.Wake(w.work)
}

// backoff is half the time from a first failure to the next start; each further one in a row
// doubles it. Tests shorten it.
var backoff = time.Second

// settle decides what the end of a planned generation means for its job. It reports whether
// that is written down.
func (w *World) settle(e *entry, r *run, state *supervisor.State) bool {
	if state.Phase == supervisor.Ended && succeeded(state.Workers) {
		return w.end(e, scheduler.Done, "")
	}
	detail := describe(state)
	stopped, n := yielded(state.Workers), e.Failures+1
	switch {
	case stopped && e.step() > r.step:
		w.lose(e, "stopped after a checkpoint: "+detail, 0)
		return true
	case !e.spoke && !stopped:
		return w.end(e, scheduler.Failed, detail+tail(state))
	case n >= failures:
		return w.end(e, scheduler.Failed, fmt.Sprintf("failed %d times without a new checkpoint: %s%s", n, detail, tail(state)))
	}
	e.Failures = n
	w.lose(e, detail, backoff<<n)
	return true
}

// lose gives a job's slots back, to run again after a time.
func (w *World) lose(e *entry, detail string, wait time.Duration) {
	e.lost, e.notBefore = true, time.Now().Add(wait)
	w.emit(scheduler.Exited{Job: e.Spec.ID, Outcome: scheduler.Lost, Detail: detail})
}

// end ends a job for good, durably. The caller holds the lock.
func (w *World) end(e *entry, outcome scheduler.Outcome, detail string) bool {
	hook("end: before the record")
	now := time.Now().Round(0).UTC()
	if err := w.kept(w.store.End(e.Spec.ID, store.Ending{Outcome: outcome, Detail: detail, At: now})); err != nil {
		w.note(e.Spec.ID, err)
		return false
	}
	hook("end: recorded")
	e.ended = true
	delete(w.tokens, e.Token)
	w.emit(scheduler.Exited{Job: e.Spec.ID, Outcome: outcome, Detail: detail})
	eventqueue.Wake(w.work)
	return true
}

// forget drops a job that has ended, has left no processes, and of which the scheduler plans
// nothing any more.
func (w *World) forget(e *entry) {
	if !e.ended || len(e.runs) > 0 || w.unheard(e.Spec.ID) {
		return
	}
	delete(w.jobs, e.Spec.ID)
	w.order = slices.DeleteFunc(w.order, func(o *entry) bool { return o == e })
	w.inbox.Wake()
}

func succeeded(exits []supervisor.Exit) bool {
	return len(exits) > 0 && !slices.ContainsFunc(exits, func(x supervisor.Exit) bool { return !x.OK() })
}

// yielded reports whether all workers stopped on notice, or had ended before.
func yielded(exits []supervisor.Exit) bool {
	stopped := false
	for _, x := range exits {
		stopped = stopped || x.Code == supervisor.TempFail
		if !x.OK() && x.Code != supervisor.TempFail {
			return false
		}
	}
	return stopped
}

// describe says how a generation ended, for people.
func describe(state *supervisor.State) string {
	switch {
	case state.Phase == supervisor.Gone:
		return "its keeper is gone, and its workers with it (killed, or the machine was started again)"
	case state.Detail != "":
		return state.Detail
	}
	return "its workers stopped"
}

// tail returns the last lines of the log, for people.
func tail(state *supervisor.State) string {
	if len(state.Tail) == 0 {
		return ""
	}
	return "; its last lines:\n" + strings.Join(state.Tail, "\n")
}

// kept notes whether the disk has room for what the store was to write, and returns err.
func (w *World) kept(err error) error {
	switch {
	case err == nil:
		w.full = ""
	case errors.Is(err, store.ErrFull):
		w.full = "cannot write down what happens to jobs, and tries again: " + err.Error()
	}
	return err
}

// note tells of trouble with a job.
func (w *World) note(id job.ID, err error) {
	fmt.Fprintf(os.Stderr, "job %s: %v\n", id, err)
}
