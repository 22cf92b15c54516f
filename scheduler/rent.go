package scheduler

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

type supply struct {
	cluster *cluster.Cluster
	rentals []cluster.Rental
	loans   []cluster.Loan
}

// rent returns the actions that lead to the plan's numbers of rented and lent nodes: cancelled orders first, then
// returned nodes.
func (u *supply) rent(plan *policy.Plan) []Action {
	acts, back := u.borrow(plan)
	if len(plan.Capacity) == 0 && len(back) == 0 {
		return nil
	}
	used, returned := nodesOf(plan), make(map[cluster.Group]int)
	for _, id := range plan.Return {
		used[id] = true
		if n, ok := u.cluster.Index(id); ok {
			returned[u.cluster.Nodes()[n].Group]++
		}
	}
	for i := range u.rentals {
		r := &u.rentals[i]
		want, ok := plan.Capacity[r.Group]
		if !ok || want == r.Ready+r.Starting {
			continue
		}
		if r.Starting > 0 || want > r.Ready {
			acts = append(acts, Provision{Group: r.Group, Nodes: max(want, r.Ready)})
		}
		back = append(back, u.idle(r.Group, used, r.Ready-want-returned[r.Group])...)
	}
	if len(back) > 0 {
		acts = append(acts, Return{Nodes: back})
	}
	return acts
}

func (u *supply) borrow(plan *policy.Plan) (acts []Action, back []cluster.NodeID) {
	for i := range u.loans {
		l := &u.loans[i]
		if want := plan.Capacity[l.Group]; want > l.Lent {
			acts = append(acts, Provision{Group: l.Group, Nodes: want})
		}
	}
	return acts, slices.Clip(plan.Return)
}

func nodesOf(plan *policy.Plan) map[cluster.NodeID]bool {
	used := make(map[cluster.NodeID]bool)
	for i := range plan.Jobs {
		for _, share := range plan.Jobs[i].Placement {
			used[share.Node] = true
		}
	}
	return used
}

func (u *supply) idle(g cluster.Group, used map[cluster.NodeID]bool, most int) []cluster.NodeID {
	var found []cluster.NodeID
	for _, n := range slices.Backward(u.cluster.Nodes()) {
		if len(found) >= most {
			break
		}
		if n.Tenure == cluster.Rented && n.Group == g && !used[n.ID] {
			found = append(found, n.ID)
		}
	}
	return found
}

// An Expander rents nodes for a backend and gives them back: it carries out Provision and Return. Both only start to
// carry out the request. Results follow in NodesChanged with the complete Rentals and Loans: at once with what was
// ordered or refused, and later for each node that arrives or leaves. Source: BOA §5.2, "Cluster Expander".
//
// Nodes cost money, so every Expander keeps these rules for any request:
//
//  1. It never has more nodes of a group than cluster.Offer.Most, including nodes that are ordered
//     or leaving.
//  2. It counts its orders before it orders more, also after a restart: the same request
//     twice orders once.
//  3. It cancels a node that did not arrive and keeps counting it: every node
//     that is paid for is in a Rental.
//  4. It never takes a node from a job. Only the provider of spot nodes does.
//
// A lender (cluster.Loan) is an Expander, too. Its limit in rule 1 is lent plus spare nodes. It takes a node from a job
// only if it asked for nodes and did not get them back in time. Its nodes are up at once, so it has no orders.
type Expander interface {
	// Provision orders or cancels nodes until a group has that many, up or ordered. It returns an error for an
	// unknown group, and for a number below 0 or above the limit of rule 1. For a provider with fewer nodes see
	// cluster.Rental.Refused.
	Provision(group cluster.Group, nodes int) error
	// Return gives nodes back. It returns an error if a node is neither rented and up nor lent, or has a job.
	Return(nodes []cluster.NodeID) error
}
