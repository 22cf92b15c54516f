package kube

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/claims"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/nodepool"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/phase"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/live/kube/pods"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
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
	members map[string]claims.Member // of jobs, by uid of the pod
	seen    seen
}

// latest is what the watches showed last.
type latest struct {
	observation *observe.Observation // that was last reconciled
}

// extent has the nodes of the queue.
type extent struct {
	types   []cluster.GPUType // that existed when the World was opened
	whole   *cluster.Cluster  // as it was then, with all nodes that can be rented or lent
	cluster *cluster.Cluster  // of the last NodesChanged
}

// background is work that is pending, and the reason why the World ends.
type background struct {
	unsaved bool          // jobs have measured something that the Plan does not have
	ends    error         // why nothing more can be planned here
	looked  time.Duration // how long the last observation took; only the executor uses it
}

// seen has the snapshot and the decisions of the last round.
type seen struct {
	snapshot *policy.Snapshot
	plan     *policy.Plan
}

var (
	_ scheduler.Backend  = (*World)(nil)
	_ scheduler.Observer = (*World)(nil)
)

// ErrTypes says that the cluster has GPUs of a new type. The World must be opened again.
var ErrTypes = errors.New("the cluster has GPUs of another type")

// Follow sets the time between rounds, and the function with which the World asks for the scheduler's view of its jobs: rows
// returns them as if the plan were carried out (scheduler.Scheduler.Snapshot). Call it before the
// first round.
func (w *World) Follow(round time.Duration, rows func(now time.Time) []*policy.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events.Round, w.rows = round, rows
}

// Cluster returns the nodes of the queue that existed when the World was opened, and all that can be
// rented or lent: the argument of scheduler.New. The first event has those that are really there.
func (w *World) Cluster() *cluster.Cluster { return w.extent.whole }

// Now implements scheduler.Backend.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events.Now()
}

// ClockMoved returns how far the machine's clock was set forward, or back, since Open.
func (w *World) ClockMoved() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events.ClockMoved()
}

// Drain makes Next return io.EOF when all present jobs, their pods and background work have ended.
func (w *World) Drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events.Drain()
}

// Next implements scheduler.Backend. Its time is real time, except for the delay with which events
// are taken, and for rounds that wait until the watches have seen what was written.
func (w *World) Next(ctx context.Context, deadline time.Time) (scheduler.Event, error) {
	return driver.Wait(ctx, w.events.Woken(), func() (scheduler.Event, time.Duration, error) { return w.take(deadline) })
}

// take returns the next event, or how long to wait for one; 0 if the deadline has come and the
// watches are up to date.
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
	if w.events.Over(len(w.table.Order)) {
		return nil, 0, io.EOF
	}
	if len(w.writer.Unseen) > 0 && w.events.Until(deadline) <= 0 {
		return nil, observe.Recheck, nil
	}
	return nil, w.events.Pass(deadline), nil
}

// release is called with each event that the scheduler takes. If a job has lost its GPUs, it takes
// them from the job, and the next plan says so. If a job has ended, it may be forgotten.
func (w *World) release(ev scheduler.Event) {
	exit, ok := ev.(scheduler.Exited)
	e := w.table.ByID[exit.Job]
	switch {
	case !ok || e == nil:
	case exit.Outcome == scheduler.Lost:
		e.Move(phase.Hear)
		e.Held = jobstate.Grant{Generation: e.Held.Generation}
	default:
		w.forget(e)
	}
}

// Event implements scheduler.Observer.
func (w *World) Event(time.Time, scheduler.Event) {}

// Round implements scheduler.Observer: it keeps what was decided, for queries and for the Plan.
func (w *World) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen{s, p}
	w.markSilent()
}

// Stopping returns, by type, the GPUs that pods still use although the plan no longer grants them
// to their jobs.
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
		case e.Ended():
		case e.Held.GPUs > 0:
			running++
			used += e.Held.GPUs
		default:
			waiting++
		}
	}
	return running, waiting, w.extent.cluster.GPUs(), used
}

// A Room says which jobs a queue has no room for, and how it stands with the writing of its plan.
type Room struct {
	planstore.State
	Full map[string]int // jobs that are not planned because there are too many, by namespace
}

// Room returns which jobs the queue has no room for.
func (w *World) Room() Room {
	r := Room{State: w.store.State()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.latest.observation != nil {
		r.Full = w.latest.observation.FullNamespaces()
	}
	return r
}

// knows reports whether a job was taken in.
func (w *World) knows(id job.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.table.ByID[id] != nil || w.table.Over[id]
}

// settle reports to the scheduler at once that a new plan has other nodes on loan.
func (w *World) settle() {
	for id := range w.nodes.Loans.Back {
		if _, planned := slices.BinarySearchFunc(w.table.Plan.Spec.Loans, string(id), nodepool.NameOf); !planned {
			delete(w.nodes.Loans.Back, id)
		}
	}
	w.takeNodes(w.latest.observation)
}
