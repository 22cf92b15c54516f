// Package schedulertest is the conformance suite that every world passes, and
// the smallest world and policy that pass it.
package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/scheduler"
)

// Run checks the contract of scheduler.Backend on worlds made by fresh, which
// returns a new one at every call. drive runs a scheduler in a world to its
// end (Drive, or anything that calls scheduler.Run's loop):
//
//   - time never goes back;
//   - events come at or before the deadline, and without one Next returns at
//     the deadline;
//   - a job's events come after its submission and none after its end;
//   - io.EOF is final;
//   - no actions are fine; an action about a job nobody submitted is an error
//     that names it;
//   - a cancelled context ends the run with its error.
func Run(t *testing.T, fresh func(testing.TB) scheduler.Backend, drive func(context.Context, scheduler.Backend) error) {
	t.Helper()
	for _, c := range []struct {
		name  string
		check func(context.Context, scheduler.Backend, func(context.Context, scheduler.Backend) error) error
	}{
		{"a whole run keeps the contract", wholeRun},
		{"no actions are fine", noActions},
		{"a job nobody submitted is named", stranger},
		{"a cancelled context ends the run", cancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.check(t.Context(), fresh(t), drive); err != nil {
				t.Error(err)
			}
		})
	}
}

// wholeRun drives a world to its end under watch.
func wholeRun(ctx context.Context, b scheduler.Backend, drive func(context.Context, scheduler.Backend) error) error {
	w := &watch{Backend: b, last: b.Now(), jobs: map[job.ID]life{}}
	if err := drive(ctx, w); err != nil {
		return fmt.Errorf("drive: %w", errors.Join(append(w.errs, err)...))
	}
	if w.events == 0 {
		w.complain("nothing happened, want a world with jobs")
	}
	if !w.ended {
		w.complain("the run was over before io.EOF")
	}
	for range 2 {
		if ev, err := w.Next(ctx, b.Now().Add(time.Hour)); !errors.Is(err, io.EOF) {
			w.complain("after io.EOF: got event %T and error %v, want io.EOF again", ev, err)
		}
	}
	return errors.Join(w.errs...)
}

func noActions(ctx context.Context, b scheduler.Backend, _ func(context.Context, scheduler.Backend) error) error {
	return errors.Join(b.Do(ctx, nil), b.Do(ctx, []scheduler.Action{}))
}

func stranger(ctx context.Context, b scheduler.Backend, _ func(context.Context, scheduler.Backend) error) error {
	const id = "nobody-submitted-this"
	var errs []error
	for _, a := range []scheduler.Action{scheduler.Run{Job: id}, scheduler.Preempt{Job: id}, scheduler.Profile{Job: id}} {
		got := fmt.Sprint(b.Do(ctx, []scheduler.Action{a}))
		if !strings.Contains(got, id) {
			errs = append(errs, fmt.Errorf("%T of an unknown job: got error %s, want one that names it", a, got))
		}
	}
	return errors.Join(errs...)
}

func cancelled(ctx context.Context, b scheduler.Backend, drive func(context.Context, scheduler.Backend) error) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if err := drive(ctx, b); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a run under a cancelled context: got error %s, want %w", fmt.Sprint(err), context.Canceled)
	}
	return nil
}

// life is how far a job's events have come.
type life uint8

const (
	unknown life = iota
	live
	over
)

// A watch passes calls on to a world and collects complaints.
type watch struct {
	scheduler.Backend
	last   time.Time
	jobs   map[job.ID]life
	events int
	ended  bool
	errs   []error
}

// maxComplaints bounds the list: one broken rule is broken often.
const maxComplaints = 10

func (w *watch) complain(format string, args ...any) {
	if len(w.errs) < maxComplaints {
		w.errs = append(w.errs, fmt.Errorf(format, args...))
	}
}

// Next implements scheduler.Backend.
func (w *watch) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	ev, err := w.Backend.Next(ctx, deadline)
	now := w.Now()
	if now.Before(w.last) {
		w.complain("time went back from %v to %v", w.last, now)
	}
	w.last = now
	switch {
	case err != nil && ev != nil:
		w.complain("got event %T and error %v, want one of them", ev, err)
	case err != nil:
		w.ended = w.ended || errors.Is(err, io.EOF)
	case w.ended:
		w.complain("got event %T after io.EOF, want io.EOF again", ev)
	case now.After(deadline):
		w.complain("event %T at %v, want none after the deadline %v", ev, now, deadline)
	case ev == nil && !now.Equal(deadline):
		w.complain("no event at %v, want to wait until the deadline %v", now, deadline)
	case ev != nil:
		w.events++
		w.event(ev)
	}
	return ev, err
}

// event checks that a job's events come between its submission and its end.
func (w *watch) event(ev scheduler.Event) {
	want, then := live, live
	var id job.ID
	switch ev := ev.(type) {
	case scheduler.Submitted:
		id, want = ev.Spec.ID, unknown
	case scheduler.Reported:
		id = ev.Job
	case scheduler.Profiled:
		id = ev.Job
	case scheduler.Exited:
		id = ev.Job
		if ev.Outcome != scheduler.Lost {
			then = over
		}
	case scheduler.NodesChanged:
		return
	}
	if w.jobs[id] != want {
		w.complain("job %s: %T at %v, want it %s", id, ev, w.last, map[life]string{
			unknown: "once", live: "between submission and end",
		}[want])
	}
	w.jobs[id] = then
}
