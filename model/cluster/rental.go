package cluster

import (
	"fmt"
	"slices"
)

// An Offer is a group of equal nodes that can be rented.
type Offer struct {
	Group Group // name to order by
	Node  Node  // example of a node, without ID
	Most  int   // maximum number of nodes at a time
}

// GPUPrice returns the price of one GPU for an hour.
func (o *Offer) GPUPrice() float64 { return o.Node.GPUPrice() }

// NodePrice returns the price of one node for an hour.
func (o *Offer) NodePrice() float64 { return o.GPUPrice() * float64(o.Node.Capacity.GPUs) }

// Fewest returns the configuration of gpus GPUs on as few nodes of the offer as possible.
func (o *Offer) Fewest(gpus int) Configuration {
	t := TypeInfo{Type: o.Node.GPUType, PerNode: o.Node.Capacity.GPUs}
	return t.Fewest(gpus)
}

// A Rental counts the rented nodes of one offer by their state: Ready (even if broken), Starting (ordered), and Leaving
// (returned or reclaimed). All are paid for.
type Rental struct {
	Offer
	Ready, Starting, Leaving int
	// Refused states that the provider could not provide all nodes of the last order.
	Refused bool
}

// Offers returns the groups of nodes that can be rented, in the order of their first nodes.
func (c *Cluster) Offers() []Offer { return c.groups(Rented) }

func (c *Cluster) groups(t Tenure) []Offer {
	var offers []Offer
	for _, n := range c.nodes {
		if n.Tenure != t {
			continue
		}
		i := slices.IndexFunc(offers, func(o Offer) bool { return o.Group == n.Group })
		if i < 0 {
			i = len(offers)
			offers = append(offers, Offer{Group: n.Group, Node: n})
			offers[i].Node.ID = ""
		}
		offers[i].Most++
	}
	return offers
}

// Held returns the cluster with its owned nodes only, without nodes for rent and on loan. It returns c itself if all
// nodes are owned.
func (c *Cluster) Held() *Cluster {
	if !slices.ContainsFunc(c.nodes, func(n Node) bool { return n.Tenure != Owned }) {
		return c
	}
	return c.Without(func(id NodeID) bool { return c.nodes[c.index[id]].Tenure != Owned })
}

// Rentals returns the initial state of all offers, before any node is ordered.
func (c *Cluster) Rentals() []Rental {
	var all []Rental
	for _, offer := range c.Offers() {
		all = append(all, Rental{Offer: offer})
	}
	return all
}

// ForRent returns the cluster with all nodes marked for rent, in groups by GPU type and number of GPUs ("t4-4"). It
// returns c itself if it already has nodes for rent.
func (c *Cluster) ForRent() *Cluster {
	if len(c.Offers()) > 0 {
		return c
	}
	nodes := slices.Clone(c.nodes)
	for i := range nodes {
		n := &nodes[i]
		n.Tenure, n.Group = Rented, RentGroup(n.GPUType, n.Capacity.GPUs)
	}
	rented, err := New(nodes)
	if err != nil {
		panic("cluster: nodes of a valid cluster are invalid: " + err.Error())
	}
	return rented
}

// RentGroup returns the name of the group of rented nodes that have gpus GPUs of type t each.
func RentGroup(t GPUType, gpus int) Group { return Group(fmt.Sprintf("%s-%d", t, gpus)) }
