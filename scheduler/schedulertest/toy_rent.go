package schedulertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

const toyStart = 90 * time.Second

type toyNodes struct {
	w      *Toy
	all    *cluster.Cluster
	coming map[cluster.NodeID]time.Time
	there  map[cluster.NodeID]bool
}

var _ scheduler.Expander = (*toyNodes)(nil)

// Let allows the Toy to rent the nodes of c with tenure Rented. Call it before the first call of Next.
func (w *Toy) Let(c *cluster.Cluster) {
	w.nodes = &toyNodes{w: w, all: c, coming: make(map[cluster.NodeID]time.Time), there: make(map[cluster.NodeID]bool)}
}

func (n *toyNodes) group(g cluster.Group) []cluster.Node {
	return slices.DeleteFunc(slices.Clone(n.all.Nodes()), func(m cluster.Node) bool {
		return m.Tenure != cluster.Rented || m.Group != g
	})
}

func (n *toyNodes) paid(id cluster.NodeID) bool {
	_, coming := n.coming[id]
	return coming || n.there[id]
}

func (n *toyNodes) Provision(g cluster.Group, nodes int) error {
	group, have := n.group(g), 0
	if nodes < 0 || nodes > len(group) || len(group) == 0 {
		return fmt.Errorf("toy: group %s: %d nodes wanted, want 0 to %d", g, nodes, len(group))
	}
	for _, m := range group {
		if n.paid(m.ID) {
			have++
		}
	}
	for _, m := range group {
		if have < nodes && !n.paid(m.ID) {
			n.coming[m.ID] = n.w.now.Add(toyStart)
			have++
		}
	}
	for _, m := range slices.Backward(group) {
		if _, coming := n.coming[m.ID]; coming && have > nodes {
			delete(n.coming, m.ID)
			have--
		}
	}
	n.report()
	return nil
}

func (n *toyNodes) Return(nodes []cluster.NodeID) error {
	for _, id := range nodes {
		if !n.there[id] {
			return fmt.Errorf("toy: node %s: given back, want one that is rented", id)
		}
		for _, j := range n.w.jobs {
			if slices.ContainsFunc(j.on, func(s cluster.Share) bool { return s.Node == id }) {
				return fmt.Errorf("toy: node %s: given back, want none that job %s is on", id, j.Spec.ID)
			}
		}
		delete(n.there, id)
	}
	n.report()
	return nil
}

func (n *toyNodes) next() (at time.Time, ok bool) {
	for _, t := range n.coming { // the order does not matter
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

func (n *toyNodes) come() {
	changed := false
	for id, at := range n.coming { // the order does not matter
		if !at.After(n.w.now) {
			delete(n.coming, id)
			n.there[id], changed = true, true
		}
	}
	if changed {
		n.report()
	}
}

func (n *toyNodes) report() {
	var rentals []cluster.Rental
	for _, offer := range n.all.Offers() {
		r := cluster.Rental{Offer: offer}
		for _, m := range n.group(offer.Group) {
			if n.there[m.ID] {
				r.Ready++
			} else if n.paid(m.ID) {
				r.Starting++
			}
		}
		rentals = append(rentals, r)
	}
	now := n.all.Without(func(id cluster.NodeID) bool {
		i, _ := n.all.Index(id)
		return n.all.Nodes()[i].Tenure == cluster.Rented && !n.there[id]
	})
	n.w.ready = append(n.w.ready, scheduler.NodesChanged{Cluster: now, Rentals: rentals})
}
