package kube

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/nodepool"
)

// borrow takes nodes on loan until a group has so many: fewer, where the owner has come to need
// them since the round began.
func (d *draft) borrow(p *inventory.Pool, nodes int) error {
	if nodes < 0 || nodes > p.Nodes {
		return fmt.Errorf("group %s: %d nodes wanted on loan, want 0 to %d", p.Group, nodes, p.Nodes)
	}
	for _, n := range p.Next(nodes - d.lent(p.Group)) {
		d.loans, d.changed = append(d.loans, v1alpha1.NodeLoan{Name: string(n.ID), Group: string(p.Group)}), true
	}
	slices.SortFunc(d.loans, nodepool.ByName)
	return nil
}

// lent returns how many nodes of a group are on loan, as it is so far.
func (d *draft) lent(g cluster.Group) int {
	n := 0
	for _, l := range d.loans {
		if l.Group == string(g) {
			n++
		}
	}
	return n
}

// repay makes a node one that is on loan no more. One that was taken since the round began is
// none already. It returns an error if a job is on it by what is planned.
func (d *draft) repay(id cluster.NodeID) error {
	if on := d.jobs()[string(id)]; on != "" {
		return fmt.Errorf("node %s: given back, want none that job %s is on", id, on)
	}
	d.changed = true
	d.loans = slices.DeleteFunc(d.loans, func(l v1alpha1.NodeLoan) bool { return l.Name == string(id) })
	return nil
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
