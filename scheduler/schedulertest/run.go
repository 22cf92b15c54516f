// Package schedulertest tests backends: every backend must pass Run.
package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// Run checks the contract of scheduler.Backend. fresh makes a new backend at every
// call. drive runs a scheduler on a backend to its end (Drive, or anything that calls
// Scheduler.Run):
//
//   - time never goes back;
//   - events come at or before the deadline; without one Next returns at
//     the deadline;
//   - a job's events come between its submission and its end;
//   - a job that was run reports or exits; a job without GPUs makes no progress;
//   - background work that returns at once, as Drive's does, ends once before the next
//     round, with its result, or an error if it panicked;
//   - io.EOF is final;
//   - an empty list of actions is no error; an action about an unknown job
//     is an error that names it;
//   - a cancelled context ends the run with its error.
func Run(t *testing.T, fresh func(testing.TB) scheduler.Backend, drive func(context.Context, scheduler.Backend) error) {
	t.Helper()
	for _, c := range []struct {
		name  string
		check func(context.Context, scheduler.Backend, func(context.Context, scheduler.Backend) error) error
	}{
		{"a whole run keeps the contract", wholeRun},
		{"no actions are fine", noActions},
		{"an unknown job is named", stranger},
		{"a cancelled context ends the run", cancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.check(t.Context(), fresh(t), drive); err != nil {
				t.Error(err)
			}
		})
	}
}

// RunRepeatable is Run, and also checks that two backends made by fresh produce the same events at the same times.
func RunRepeatable(t *testing.T, fresh func(testing.TB) scheduler.Backend, drive func(context.Context, scheduler.Backend) error) {
	t.Helper()
	Run(t, fresh, drive)
	t.Run("the same run twice", func(t *testing.T) {
		if err := repeatable(t.Context(), fresh(t), fresh(t), drive); err != nil {
			t.Error(err)
		}
	})
}

// RunDrained checks that backend b, which has no jobs, waits for background work when it stops.
func RunDrained(t *testing.T, b scheduler.Backend) {
	t.Helper()
	done := make(chan struct{})
	work := func(context.Context) any { <-done; return 7 }
	if err := b.Do(t.Context(), []scheduler.Action{scheduler.Compute{Work: work}}); err != nil {
		t.Fatal(err)
	}
	if ev, err := b.Next(t.Context(), b.Now()); ev != nil || err != nil {
		t.Errorf("got %v, %v, want that the round has come", ev, err)
	}
	close(done)
	ev, err := b.Next(t.Context(), b.Now().Add(time.Minute))
	if c, ok := ev.(scheduler.Computed); !ok || c.Result != 7 || err != nil {
		t.Errorf("got %v, %v, want what the work returned", ev, err)
	}
	if ev, err := b.Next(t.Context(), b.Now().Add(time.Minute)); ev != nil || !errors.Is(err, io.EOF) {
		t.Errorf("got %v, %v, want the end", ev, err)
	}
}

func repeatable(ctx context.Context, b, again scheduler.Backend, drive func(context.Context, scheduler.Backend) error) error {
	var logs [2][]string
	for i, b := range []scheduler.Backend{b, again} {
		w := newWatch(b)
		w.told = func(ev scheduler.Event) {
			logs[i] = append(logs[i], fmt.Sprintf("%v %T %+v", w.last, ev, describe(ev)))
		}
		if err := drive(ctx, w); err != nil {
			return fmt.Errorf("drive: %w", err)
		}
	}
	for i := range max(len(logs[0]), len(logs[1])) {
		if i >= len(logs[0]) || i >= len(logs[1]) {
			return fmt.Errorf("%d events the first time, %d the second", len(logs[0]), len(logs[1]))
		}
		if logs[0][i] != logs[1][i] {
			return fmt.Errorf("event %d: first %s, then %s", i, logs[0][i], logs[1][i])
		}
	}
	return nil
}

func describe(ev scheduler.Event) any {
	switch ev := ev.(type) {
	case scheduler.Submitted:
		return *ev.Spec
	case scheduler.Described:
		return *ev.Spec
	case scheduler.Restored:
		return []any{*ev.Spec, ev.Status, ev.Batch, ev.Reports}
	case scheduler.NodesChanged:
		return []any{ev.Cluster.Nodes(), ev.Rentals}
	}
	return ev
}

func wholeRun(ctx context.Context, b scheduler.Backend, drive func(context.Context, scheduler.Backend) error) error {
	w := newWatch(b)
	if err := drive(ctx, w); err != nil {
		return fmt.Errorf("drive: %w", errors.Join(append(w.errs, err)...))
	}
	if w.events == 0 {
		w.complain("nothing happened, want a world with jobs")
	}
	if !w.ended {
		w.complain("the run was over before io.EOF")
	}
	if !w.asked {
		w.complain("no background work was asked for, want a policy with some in its plans")
	}
	w.silent()
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

type life uint8

const (
	unknown life = iota
	live
	over
)

type watch struct {
	scheduler.Backend
	last   time.Time
	jobs   map[job.ID]life
	runs   map[job.ID]*granted
	told   func(scheduler.Event)
	asked  bool
	thinks bool
	events int
	ended  bool
	errs   []error
}

// granted says since when a job holds GPUs, and whether it had an event since.
type granted struct {
	at    time.Time
	heard bool
}

func newWatch(b scheduler.Backend) *watch {
	return &watch{Backend: b, last: b.Now(), jobs: map[job.ID]life{}, runs: map[job.ID]*granted{}}
}

const maxComplaints = 10

func (w *watch) complain(format string, args ...any) {
	if len(w.errs) < maxComplaints {
		w.errs = append(w.errs, fmt.Errorf(format, args...))
	}
}

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
	case ev == nil && w.thinks:
		w.complain("no scheduler.Computed at %v, want background work to end before the next round", now)
	case ev != nil:
		w.events++
		w.event(ev)
		if w.told != nil {
			w.told(ev)
		}
	}
	return ev, err
}

func (w *watch) Do(ctx context.Context, actions []scheduler.Action) error {
	for _, a := range actions {
		switch a := a.(type) {
		case scheduler.Run:
			if w.runs[a.Job] == nil {
				w.runs[a.Job] = &granted{at: w.last}
			}
		case scheduler.Preempt:
			delete(w.runs, a.Job)
		case scheduler.Profile:
		case scheduler.Compute:
			w.asked, w.thinks = true, true
		}
	}
	return w.Backend.Do(ctx, actions)
}

func (w *watch) silent() {
	for _, id := range slices.Sorted(maps.Keys(w.runs)) {
		if g := w.runs[id]; !g.heard {
			w.complain("job %s: run at %v, and not heard of since", id, g.at)
		}
	}
}

func (w *watch) progress(r *job.Report) {
	if r.Profile {
		return
	}
	g := w.runs[r.Job]
	if g == nil {
		w.complain("job %s: reports at %v, want none while it holds no GPUs", r.Job, w.last)
		return
	}
	g.heard = true
}

func (w *watch) event(ev scheduler.Event) {
	want, then := live, live
	var id job.ID
	switch ev := ev.(type) {
	case scheduler.Submitted:
		id, want = ev.Spec.ID, unknown
	case scheduler.Described:
		id = ev.Spec.ID
	case scheduler.Restored:
		id, want = ev.Spec.ID, unknown
		if ev.Status.Phase.Terminal() {
			then = over
		}
	case scheduler.Reported:
		id = ev.Job
		w.progress(&ev.Report)
	case scheduler.Profiled:
		id = ev.Job
	case scheduler.Exited:
		id = ev.Job
		delete(w.runs, id)
		if ev.Outcome != scheduler.Lost {
			then = over
		}
	case scheduler.NodesChanged:
		return
	case scheduler.Computed:
		if !w.thinks {
			w.complain("%T at %v, want none while no background work is under way", ev, w.last)
		}
		w.thinks = false
		return
	}
	if w.jobs[id] != want {
		w.complain("job %s: %T at %v, want it %s", id, ev, w.last, map[life]string{
			unknown: "once", live: "between submission and end",
		}[want])
	}
	w.jobs[id] = then
}
