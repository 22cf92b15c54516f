package kube

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/kube/nodepool"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// reconcile turns what the watches show into events. The caller holds the lock.
func (w *World) reconcile(s *observe.Observation) {
	w.catchUp(s)
	w.table.Labels = s.Labels
	there := make(map[job.ID]bool, len(s.Jobs))
	for i := range s.Jobs {
		f := &s.Jobs[i]
		there[job.ID(f.Parsed.UID)] = true
		w.takeJob(s, f)
	}
	for _, e := range slices.Clone(w.table.Order) {
		if !there[e.ID()] {
			e.Pods, e.Helpers, e.StaleSince = nil, nil, time.Time{}
			w.end(e, scheduler.Cancelled, "its object was deleted")
		}
		w.forget(e)
	}
	for id := range w.table.Over {
		if !there[id] && w.table.ByID[id] == nil {
			delete(w.table.Over, id)
		}
	}
	w.observer.Forget(s)
	for uid := range w.publisher.told {
		if _, shown := s.Versions[uid]; !shown {
			delete(w.publisher.told, uid)
			delete(w.publisher.wrote, uid)
		}
	}
	w.members = membersOf(w.table.Order)
	w.latest.observation = s
	w.nodes.Rented.Nodes = nodepool.Cloned(s.Groups)
	w.takeNodes(s)
}

// catchUp forgets those writes that the watches have shown.
func (w *World) catchUp(s *observe.Observation) {
	for uid, version := range w.writer.Unseen {
		if seen, there := s.Versions[string(uid)]; !there || seen >= version {
			delete(w.writer.Unseen, uid)
		}
	}
	if len(w.writer.Unseen) == 0 {
		w.Events.Wake()
	}
}

// nowhere is a GPU type that no cluster has. Jobs for which nothing can be planned now are
// described as if they needed it.
const nowhere = "(none: it is tried again later)"

// takeNodes reports changed nodes, loans and rentals to the scheduler, and the jobs that have lost
// GPUs by that. On each node with fewer GPUs than planned, the jobs submitted last lose theirs.
func (w *World) takeNodes(s *observe.Observation) {
	w.meet(s)
	w.nodes.Review(s)
	w.nodes.ExpectPods()
	nodes, rentals := w.nodes.Rentals(w.nodes.Usable(s))
	c, err := cluster.New(nodes)
	if err != nil { // for example, two nodes have one name: the last state stays
		w.o.Log.Warn("the nodes cannot be taken in, so those that were known hold", "queue", w.o.Queue.Name, "err", err)
		return
	}
	loans := w.nodes.LoanStatus()
	switch {
	case !reflect.DeepEqual(c.Nodes(), w.extent.cluster.Nodes()):
		w.dispossess(c)
		w.extent.cluster = c
	case slices.Equal(rentals, w.nodes.Rented.Told) && nodepool.SameLoans(loans, w.nodes.Loans.Told):
		return
	}
	w.nodes.Rented.Told, w.nodes.Loans.Told = rentals, loans
	w.Events.Emit(scheduler.NodesChanged{Cluster: w.extent.cluster, Rentals: rentals, Loans: loans})
}

// meet ends the World if there are GPUs of a type that did not exist, lent or not, when it was
// opened.
func (w *World) meet(s *observe.Observation) {
	strange := func(n *cluster.Node) bool { return !slices.Contains(w.extent.types, n.GPUType) }
	found := false
	for i := range s.Nodes {
		found = found || strange(&s.Nodes[i])
	}
	for i := range s.Lender.Servers {
		found = found || strange(&s.Lender.Servers[i].Node)
	}
	if found && w.Ends() == nil {
		w.End(ErrTypes)
	}
}

// dispossess takes from jobs the GPUs that nodes no longer have, from those submitted last first.
func (w *World) dispossess(c *cluster.Cluster) {
	planned := make(map[cluster.NodeID]int)
	for _, e := range w.table.Order {
		if !e.Wants() {
			continue
		}
		for _, share := range e.Held.Placement {
			planned[share.Node] += share.GPUs
		}
	}
	for _, e := range slices.Backward(w.table.Order) {
		for _, share := range e.Held.Placement {
			if has := gpus(c, share.Node); e.Wants() && planned[share.Node] > has {
				w.lose(e, fmt.Sprintf("node %s has %d GPUs left of %d that were planned", share.Node, has, planned[share.Node]))
				for _, s := range e.Held.Placement {
					planned[s.Node] -= s.GPUs
				}
				break
			}
		}
	}
}

// gpus returns how many GPUs a node has; 0 if it is not there.
func gpus(c *cluster.Cluster, id cluster.NodeID) int {
	if i, there := c.Index(id); there {
		return c.Nodes()[i].Capacity.GPUs
	}
	return 0
}
