package kube

import (
	"errors"
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
	"github.com/oxgang/oxgang/scheduler"
)

// A Backend is a scheduler.Backend of one queue of a cluster, and an Observer of its own
// scheduler. Make one with Open. Next and Do are for the scheduler's goroutine; everything
// else is safe for concurrent use.
type Backend struct {
	*jobEvents
	*driver.Agents
	publisher  publisher // what people are told
	latest     latest
	extent     extent
	background background

	store    *planstore.Store
	observer *observe.Observer // the executor's

	nodes   *nodepool.Nodes
	members map[string]claims.Member // of jobs, by uid of the pod
}

// latest is what the watches showed last.
type latest struct {
	observation *observe.Observation // that was last reconciled
}

// extent has the nodes of the queue.
type extent struct {
	types   []cluster.GPUType // that existed when the Backend was opened
	whole   *cluster.Cluster  // as it was then, with all nodes that can be rented or lent
	cluster *cluster.Cluster  // of the last NodesChanged
}

// background is work that is pending.
type background struct {
	unsaved bool          // jobs have measured something that the Plan does not have
	looked  time.Duration // how long the last observation took; only the executor uses it
}

var _ driver.Backend = (*Backend)(nil)

// ErrTypes says that the cluster has GPUs of a new type. The Backend must be opened again.
var ErrTypes = errors.New("the cluster has GPUs of another type")

// Cluster returns the nodes of the queue that existed when the Backend was opened, and all that can be
// rented or lent: the argument of scheduler.New. The first event has those that are really there.
func (w *Backend) Cluster() *cluster.Cluster { return w.extent.whole }

// hold returns how long a round has to wait until the watches have seen what was written.
func (w *Backend) hold() time.Duration {
	if len(w.writer.Unseen) > 0 {
		return observe.Recheck
	}
	return 0
}

// release is called with each event that the scheduler takes. If a job has lost its GPUs, it takes
// them from the job, and the next plan says so. If a job has ended, it may be forgotten.
func (w *Backend) release(ev scheduler.Event) {
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

// Stopping returns, by type, the GPUs that pods still use although the plan no longer grants them
// to their jobs.
func (w *Backend) Stopping() map[cluster.GPUType]int {
	w.Lock()
	defer w.Unlock()
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
func (w *Backend) Counts() (running, waiting, has, used int) {
	w.Lock()
	defer w.Unlock()
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
func (w *Backend) Room() Room {
	r := Room{State: w.store.State()}
	w.Lock()
	defer w.Unlock()
	if w.latest.observation != nil {
		r.Full = w.latest.observation.FullNamespaces()
	}
	return r
}

// knows reports whether a job was taken in.
func (w *Backend) knows(id job.ID) bool {
	w.Lock()
	defer w.Unlock()
	return w.table.ByID[id] != nil || w.table.Over[id]
}
