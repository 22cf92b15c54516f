package scheduler

import "github.com/oxgang/oxgang/model/cluster"

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
