package kube

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
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
	*jobEvents
	publisher  publisher // what people are told
	latest     latest
	extent     extent
	background background

	store    *planstore.Store
	observer *observe.Observer // the executor's

	rows    func(now time.Time) []*policy.Job
	nodes   *nodepool.Nodes
	members map[string]job.ID // of living pods, by uid of the pod
	seen    seen
}

// latest is what the watches showed last.
type latest struct {
	observation *observe.Observation // that was last reconciled
	versions    map[string]uint64    // of objects, by uid; see Observation.Versions
	at          time.Time
}

// extent is which nodes there are.
type extent struct {
	types   []cluster.GPUType // of GPUs that there were when the world was opened
	whole   *cluster.Cluster  // as it was then, with all nodes that can be lent
	cluster *cluster.Cluster  // as the scheduler was last told
}

// background is what is pending, and why the world ends.
type background struct {
	draining  bool          // the world ends once its jobs have
	computing int           // work that is under way
	unsaved   bool          // jobs have measured what the Plan does not say
	ends      error         // why no more can be planned here
	looked    time.Duration // how long the last pass observed; the executor's
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
func (w *World) Cluster() *cluster.Cluster { return w.extent.whole }

// Now implements scheduler.Backend.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events.Now()
}

// Drain makes Next return io.EOF once the jobs there are have ended, their pods, and background
// work.
func (w *World) Drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.background.draining = true
	w.events.Wake()
}

// Next implements scheduler.Backend. Its time is real but for the delay with which events are
// taken, and for rounds that wait until the watches have seen what was written.
func (w *World) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return eventqueue.Wait(ctx, w.events.Woken(), func() (scheduler.Event, time.Duration, error) { return w.take(deadline) })
}

// take returns the next event, or how long there is to wait for one: not at all if the
// deadline has come and the watches are fresh.
func (w *World) take(deadline time.Time) (scheduler.Event, time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.background.ends != nil {
		return nil, 0, w.background.ends
	}
	if ev := w.events.Take(deadline); ev != nil {
		w.release(ev)
		return ev, 0, nil
	}
	if w.background.draining && w.events.Len() == 0 && len(w.table.Order) == 0 && w.background.computing == 0 {
		return nil, 0, io.EOF
	}
	if len(w.writer.Unseen) > 0 && time.Until(deadline) <= 0 {
		return nil, observe.Recheck, nil
	}
	return nil, w.events.Pass(deadline), nil
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

// Event implements scheduler.Observer.
func (w *World) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer: it remembers what was decided, for those who ask and
// for the Plan.
func (w *World) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen{s, p}
	w.markSilent()
}

// Stopping returns, by type, the GPUs that pods are still on to whose jobs the plan does not
// grant them any more.
func (w *World) Stopping() map[cluster.GPUType]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[cluster.GPUType]int)
	for _, e := range w.table.Order {
		for _, p := range e.Live() {
			if i, there := w.extent.cluster.Index(cluster.NodeID(pods.Node(p))); there && !e.Present(p) {
				all[w.extent.cluster.Nodes()[i].GPUType] += e.Parsed.PerWorker.GPUs
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
	return running, waiting, w.extent.cluster.GPUs(), used
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
	return w.latest.versions, w.latest.at
}

// settle takes in that a new plan has other nodes on loan: the scheduler is told at once.
func (w *World) settle() {
	for id := range w.nodes.Loans.Back {
		if _, planned := slices.BinarySearchFunc(w.table.Plan.Spec.Loans, string(id), nodepool.NameOf); !planned {
			delete(w.nodes.Loans.Back, id)
		}
	}
	w.takeNodes(w.latest.observation)
}
