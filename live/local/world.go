package local

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A World is a scheduler.Backend on this machine, and an Observer of its own scheduler. Make
// one with Open. Next and Do are for the scheduler's goroutine; everything else is safe for
// concurrent use.
type World struct {
	o       Options
	store   *store.Store
	cluster *cluster.Cluster
	rows    func(now time.Time) []*policy.Job
	work    chan struct{} // something is for the executor to do

	mu        sync.Mutex
	inbox     *eventqueue.Queue
	jobs      map[job.ID]*entry
	order     []*entry // of jobs, by acceptance
	tokens    map[string]job.ID
	draining  bool
	computing int    // background work that is under way
	banner    string // plans cannot be written; empty: they can
	full      string // other things cannot; empty: they can
	round     int64  // of the last plan that was committed
	seen      seen
}

var (
	_ scheduler.Backend  = (*World)(nil)
	_ scheduler.Observer = (*World)(nil)
)

// Follow sets where the world learns how the scheduler sees its jobs: rows returns them as
// they are once a plan is taken for done (scheduler.Scheduler.Snapshot). Call it before the
// first round.
func (w *World) Follow(rows func(now time.Time) []*policy.Job) { w.rows = rows }

// Cluster returns the machine as a cluster of one node.
func (w *World) Cluster() *cluster.Cluster { return w.cluster }

// Now implements scheduler.Backend.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inbox.Now()
}

// Drain makes Next return io.EOF once the jobs there are have ended, their processes, and
// background work.
func (w *World) Drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
	w.inbox.Wake()
}

// Next implements scheduler.Backend. Its time is real but for the delay with which events are
// taken.
func (w *World) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return eventqueue.Wait(ctx, w.inbox.Woken(), func() (scheduler.Event, time.Duration, error) { return w.take(deadline) })
}

// take returns the next event, or how long there is to wait for one: not at all if the
// deadline has come.
func (w *World) take(deadline time.Time) (scheduler.Event, time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ev := w.inbox.Take(deadline); ev != nil {
		w.release(ev)
		return ev, 0, nil
	}
	if w.draining && w.inbox.Len() == 0 && len(w.order) == 0 && w.computing == 0 {
		return nil, 0, io.EOF
	}
	return nil, w.inbox.Pass(deadline), nil
}

// release takes the slots from a job that the scheduler hears has lost them; the next plan
// says so. One that it hears has ended may be forgotten.
func (w *World) release(ev scheduler.Event) {
	exit, ok := ev.(scheduler.Exited)
	e := w.jobs[exit.Job]
	switch {
	case !ok || e == nil:
	case exit.Outcome == scheduler.Lost:
		e.Held, e.lost, e.unsaid = nil, false, true
	default:
		w.forget(e)
	}
}

// unheard reports whether the scheduler is still to hear that a job has ended.
func (w *World) unheard(id job.ID) bool {
	return w.inbox.Any(func(ev scheduler.Event) bool {
		exit, ok := ev.(scheduler.Exited)
		return ok && exit.Job == id && exit.Outcome != scheduler.Lost
	})
}

// retract takes back that a job was lost, if the scheduler has not heard of it: what it
// planned meanwhile is a new generation.
func (w *World) retract(e *entry) {
	e.lost = false
	w.inbox.Drop(func(ev scheduler.Event) bool {
		lost, ok := ev.(scheduler.Exited)
		return ok && lost.Job == e.Spec.ID && lost.Outcome == scheduler.Lost
	})
}

// emit queues an event that happens now. The caller holds the lock.
func (w *World) emit(ev scheduler.Event) { w.inbox.Emit(ev) }

// entry returns a job that has not ended. The caller holds the lock.
func (w *World) entry(id job.ID) (*entry, error) {
	e := w.jobs[id]
	if e == nil {
		return nil, fmt.Errorf("job %s: no such job is live", id)
	}
	return e, nil
}
