package scheduler

import "github.com/oxgang/oxgang/model/cluster"

// An Expander rents nodes by the hour for a backend and gives them back: it carries out
// Provision and Return. Both return as soon as the request is under way. Its result follows in
// NodesChanged, each with the complete Rentals and Loans: one at once with what was ordered and
// what was refused, and one for each node that arrives or is gone later. Source: BOA §5.2, "Cluster
// Expander".
//
// Nodes cost money. So every Expander keeps these rules for any request:
//
//  1. It never has more nodes of a group than cluster.Offer.Most. Nodes that are ordered
//     and nodes that are leaving count.
//  2. It counts what it has already ordered before it orders more, also after a restart:
//     asking twice for the same number orders once.
//  3. A node that was ordered and did not arrive is cancelled and not forgotten: every node
//     that is paid for is counted in a Rental.
//  4. It never takes a node from a job. Only the provider of spot nodes does.
//
// A lender of nodes that their owner does not need (cluster.Loan) is an Expander, too. Its limit
// in rule 1 is what is lent plus what is spare. It takes a node from a job only if it has asked
// for nodes and they were not given back in time. Nodes that it lends are there at once, so that
// there are no orders and rules 2 and 3 always hold.
type Expander interface {
	// Provision orders or cancels nodes until a group has that many nodes, those that are
	// there and those that are ordered. It returns an error if the group is unknown, or if
	// the number is negative or above cluster.Offer.Most or, of a lender, above what is lent
	// and spare. If the provider has fewer nodes, that is no error: cluster.Rental.Refused
	// says so.
	Provision(group cluster.Group, nodes int) error
	// Return gives nodes back. It returns an error if a node is neither rented and there nor
	// lent, or if a job is on it.
	Return(nodes []cluster.NodeID) error
}
