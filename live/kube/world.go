package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/nodepool"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/live/kube/pods"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A World is a scheduler.Backend of one queue of a cluster, and an Observer of its own
// scheduler. Make one with Open. Next and Do are for the scheduler's goroutine; everything
// else is safe for concurrent use.
type World struct {
	o      config.Options
	client client.Client // reads come from watches, and may be late
	direct client.Reader // reads come from the API server
	work   chan struct{} // something is for the executor to do

	types    []cluster.GPUType // of GPUs that there were when it was opened
	whole    *cluster.Cluster  // as it was then, with all nodes that can be lent
	store    *planstore.Store
	observer *observe.Observer // the executor's
	looked   time.Duration     // how long the last pass did; the executor's

	mu        sync.Mutex
	inbox     *eventqueue.Queue
	rows      func(now time.Time) []*policy.Job
	cluster   *cluster.Cluster // as the scheduler was last told
	nodes     *nodepool.Nodes
	sight     *observe.Observation // that was last taken in
	table     *jobstate.Table
	writer    *execute.Writer
	shown     map[string]uint64 // what the watches showed last, by uid; see sight.fresh
	shownAt   time.Time         // when that was
	told      map[string]string // the last reason that people were told, by uid
	tellFrom  time.Time         // until then they are told nothing
	members   map[string]job.ID // of living pods, by uid of the pod
	draining  bool
	unsaved   bool  // jobs have measured what the Plan does not say
	computing int   // background work that is under way
	ends      error // why no more can be planned here
	seen      seen
}

// seen is what the last round saw and decided.
type seen struct {
	snapshot *policy.Snapshot
	plan     *policy.Plan
}

var (
	_ scheduler.Backend  = (*World)(nil)
	_ scheduler.Observer = (*World)(nil)
)

// ErrTypes says that the cluster has got GPUs of a type that it had not: the world is to be
// opened again.
var ErrTypes = errors.New("the cluster has GPUs of another type")

// Follow sets where the world learns how the scheduler sees its jobs: rows returns them as
// they are once a plan is taken for done (scheduler.Scheduler.Snapshot). Call it before the
// first round.
func (w *World) Follow(rows func(now time.Time) []*policy.Job) { w.rows = rows }

// Cluster returns the nodes of the queue that were there when the world was opened, and all that
// can be rented or lent: what scheduler.New wants. The first event says what there is of these.
func (w *World) Cluster() *cluster.Cluster { return w.whole }

// Now implements scheduler.Backend.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inbox.Now()
}

// Drain makes Next return io.EOF once the jobs there are have ended, their pods, and background
// work.
func (w *World) Drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
	w.inbox.Wake()
}

// Next implements scheduler.Backend. Its time is real but for the delay with which events are
// taken, and for rounds that wait until the watches have seen what was written.
func (w *World) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return eventqueue.Wait(ctx, w.inbox.Woken(), func() (scheduler.Event, time.Duration, error) { return w.take(deadline) })
}

// take returns the next event, or how long there is to wait for one: not at all if the
// deadline has come and the watches are fresh.
func (w *World) take(deadline time.Time) (scheduler.Event, time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ends != nil {
		return nil, 0, w.ends
	}
	if ev := w.inbox.Take(deadline); ev != nil {
		w.release(ev)
		return ev, 0, nil
	}
	if w.draining && w.inbox.Len() == 0 && len(w.table.Order) == 0 && w.computing == 0 {
		return nil, 0, io.EOF
	}
	if len(w.writer.Unseen) > 0 && time.Until(deadline) <= 0 {
		return nil, observe.Recheck, nil
	}
	return nil, w.inbox.Pass(deadline), nil
}

// release takes the GPUs from a job that the scheduler hears has lost them; the next plan
// says so. One that it hears has ended may be forgotten.
func (w *World) release(ev scheduler.Event) {
	exit, ok := ev.(scheduler.Exited)
	e := w.table.ByID[exit.Job]
	switch {
	case !ok || e == nil:
	case exit.Outcome == scheduler.Lost:
		e.Uncommitted = e.Uncommitted || e.Held.GPUs > 0
		e.Held = jobstate.Grant{Generation: e.Held.Generation}
		e.Lost = false
	default:
		w.forget(e)
	}
}

// lose gives a job's GPUs back, to run again after a time.
func (w *World) lose(e *jobstate.Job, detail string) {
	if !e.Wants() {
		return
	}
	e.Lost = true
	w.fail(e, detail)
}

// refuse tells the scheduler that a job cannot be given what it planned, also if it holds
// nothing: else the scheduler would believe that the job has it.
func (w *World) refuse(e *jobstate.Job, why error) {
	if e.Wants() {
		w.lose(e, why.Error())
		return
	}
	w.fail(e, why.Error())
}

// fail tells the scheduler that a job has nothing any more, and, in the same breath, if nothing
// is to be planned for it for a time: else the next plan gives it the same again.
func (w *World) fail(e *jobstate.Job, detail string) {
	e.Setback = detail
	e.Fail(time.Now())
	w.inbox.Emit(scheduler.Exited{Job: e.ID(), Outcome: scheduler.Lost, Detail: detail})
	w.describe(e)
}

// end ends a job for good.
func (w *World) end(e *jobstate.Job, outcome scheduler.Outcome, detail string) {
	if e.Ended {
		return
	}
	e.Ended = true
	w.table.Over[e.ID()] = true
	w.inbox.Emit(scheduler.Exited{Job: e.ID(), Outcome: outcome, Detail: detail})
	eventqueue.Wake(w.work)
}

// forget drops a job that has ended, has left no pods, and of which the scheduler plans
// nothing any more.
func (w *World) forget(e *jobstate.Job) {
	unheard := func(ev scheduler.Event) bool {
		exit, ok := ev.(scheduler.Exited)
		return ok && exit.Job == e.ID()
	}
	if !e.Ended || len(e.Live()) > 0 || w.inbox.Any(unheard) {
		return
	}
	delete(w.table.ByID, e.ID())
	w.table.Order = slices.DeleteFunc(w.table.Order, func(o *jobstate.Job) bool { return o == e })
	w.inbox.Wake()
}

// entry returns a job that has not ended. The caller holds the lock.
func (w *World) entry(id job.ID) (*jobstate.Job, error) {
	e := w.table.ByID[id]
	if e == nil {
		return nil, fmt.Errorf("job %s: no such job is live", id)
	}
	return e, nil
}

// Event implements scheduler.Observer.
func (w *World) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer: it remembers what was decided, for those who ask and
// for the Plan.
func (w *World) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen{s, p}
	w.hush()
}

// Stopping returns, by type, the GPUs that pods are still on to whose jobs the plan does not
// grant them any more.
func (w *World) Stopping() map[cluster.GPUType]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[cluster.GPUType]int)
	for _, e := range w.table.Order {
		for _, p := range e.Live() {
			if i, there := w.cluster.Index(cluster.NodeID(pods.Node(p))); there && !e.Present(p) {
				all[w.cluster.Nodes()[i].GPUType] += e.Parsed.PerWorker.GPUs
			}
		}
	}
	return all
}

// Counts returns how many jobs hold GPUs by the plan and how many wait, how many GPUs the
// nodes of the queue have, and how many of them the plan gives to jobs.
func (w *World) Counts() (running, waiting, has, used int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.table.Order {
		switch {
		case e.Ended:
		case e.Held.GPUs > 0:
			running++
			used += e.Held.GPUs
		default:
			waiting++
		}
	}
	return running, waiting, w.cluster.GPUs(), used
}

// knows reports whether a job was taken in.
func (w *World) knows(id job.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.table.ByID[id] != nil || w.table.Over[id]
}

// lastShown returns what the watches showed last, by uid, and when that was.
func (w *World) lastShown() (fresh map[string]uint64, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shown, w.shownAt
}
