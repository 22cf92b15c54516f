package scheduler

import "github.com/oxgang/oxgang/cluster"

// An Expander rents nodes by the hour for a world and gives them back: it carries out
// Provision and Return. Both return once what is asked for is under way. What comes of
// it, NodesChanged says, with Rentals and Loans that are complete: at once what was ordered
// and what was refused, later each node that comes or is gone. Source: BOA §5.2, "Cluster
// Expander".
//
// Money depends on it, so that every Expander keeps these rules, whatever it is asked:
//
//  1. It never has more nodes of a group than cluster.Offer.Most, those on their way and
//     those that are leaving among them.
//  2. It counts what it has already ordered before it orders more, also after a restart:
//     asking twice for the same number orders once.
//  3. A node that was ordered and did not come is cancelled, not forgotten: what is
//     paid is in a Rental.
//  4. It never takes a node from under a job: only the provider of spot nodes does.
//
// A lender of nodes that their owner does not need (cluster.Loan) is one too. It keeps rule
// 1 with another limit, what is lent and spare. It takes a node from under a job only if it
// asked for nodes and they are not back in time. What it lends is there at once: nothing is
// ever on its way, so that rules 2 and 3 hold by themselves.
type Expander interface {
	// Provision orders or cancels nodes until a group has so many, there and on their
	// way. It returns an error if the group is unknown, or the number not 0 to
	// cluster.Offer.Most, or to what is lent and spare. A provider that has fewer is no
	// error: cluster.Rental.Refused says so.
	Provision(group cluster.Group, nodes int) error
	// Return gives nodes back. It returns an error if one of them is not rented and
	// there, or lent, or if a job is on it.
	Return(nodes []cluster.NodeID) error
}
