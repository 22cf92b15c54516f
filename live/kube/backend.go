package kube

import (
	"errors"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Backend runs the jobs of one queue of a Kubernetes cluster. It implements scheduler.Backend and scheduler.Observer.
// Only the scheduler's goroutine may call Next and Do; other methods are safe for concurrent use.
type Backend struct {
	*jobEvents
	*driver.Agents
	publisher  publisher
	latest     latest
	extent     extent
	background background

	store    *planstore.Store
	observer *observe.Observer

	nodes   *execute.Nodes
	members map[string]Member // by pod uid
}

type latest struct {
	observation *observe.Observation
}

type extent struct {
	types   []cluster.GPUType // at Open
	whole   *cluster.Cluster  // with all nodes that can be rented or lent
	cluster *cluster.Cluster  // of the last NodesChanged
}

type background struct {
	unsaved bool          // jobs have measurements that the Plan lacks
	looked  time.Duration // only the executor uses it
}

var _ driver.Backend = (*Backend)(nil)

// ErrTypes is returned if a node has a GPU type that is new since Open; open the queue again.
var ErrTypes = errors.New("the cluster has GPUs of a new type")

// Cluster returns the cluster for scheduler.New, including all nodes that can be rented or lent.
func (w *Backend) Cluster() *cluster.Cluster { return w.extent.whole }

func (w *Backend) hold() time.Duration {
	if len(w.writer.Unseen) > 0 {
		return observe.Recheck
	}
	return 0
}

// Stopping counts, by type, the GPUs that pods still hold although the plan took them from their jobs.
func (w *Backend) Stopping() map[cluster.GPUType]int {
	w.Lock()
	defer w.Unlock()
	all := make(map[cluster.GPUType]int)
	for _, e := range w.table.Order {
		for _, p := range e.Live() {
			if i, there := w.extent.cluster.Index(cluster.NodeID(inventory.Node(p))); there && !e.Present(p) {
				all[w.extent.cluster.Nodes()[i].GPUType] += e.Parsed.PerWorker.GPUs
			}
		}
	}
	return all
}

// Counts returns how many jobs run and wait, and how many GPUs the queue has and the plan uses.
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

// A Room states which limits of the queue are reached, and whether its plan could be written.
type Room struct {
	planstore.State
	Full map[string]int // jobs that a limit keeps from being planned, by namespace
}

// Room returns the current Room.
func (w *Backend) Room() Room {
	r := Room{State: w.store.State()}
	w.Lock()
	defer w.Unlock()
	if w.latest.observation != nil {
		r.Full = w.latest.observation.FullNamespaces()
	}
	return r
}

func (w *Backend) known(id job.ID) (planned, over bool) {
	w.Lock()
	defer w.Unlock()
	e := w.table.ByID[id]
	return e != nil && !e.Ended(), w.table.Over[id]
}
