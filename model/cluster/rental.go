package cluster

import (
	"fmt"
	"slices"
)

// An Offer is a group of equal nodes for rent.
type Offer struct {
	Group Group // to order by
	Node  Node  // each node, without ID
	Most  int   // available at a time
}

// GPUPrice returns the price of a GPU per hour.
func (o *Offer) GPUPrice() float64 { return o.Node.GPUPrice() }

// NodePrice returns the price of a node per hour.
func (o *Offer) NodePrice() float64 { return o.GPUPrice() * float64(o.Node.Capacity.GPUs) }

// Fewest returns the configuration of gpus GPUs on the fewest nodes.
func (o *Offer) Fewest(gpus int) Configuration {
	t := TypeInfo{Type: o.Node.GPUType, PerNode: o.Node.Capacity.GPUs}
	return t.Fewest(gpus)
}

// A Rental is the state of an offer. All its nodes are paid for: Ready (even if broken), Starting (ordered)
// and Leaving (returned or reclaimed).
type Rental struct {
	Offer
	Ready, Starting, Leaving int
	// Refused: the provider could not provide all nodes of the last order.
	Refused bool
}

// Offers returns the nodes of tenure Rented by group, by first appearance. Node is the first node
// of the group.
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

// Held returns the cluster without nodes of tenure Rented and Loaned. It returns c itself if there
// are none.
func (c *Cluster) Held() *Cluster {
	if !slices.ContainsFunc(c.nodes, func(n Node) bool { return n.Tenure != Owned }) {
		return c
	}
	return c.Without(func(id NodeID) bool { return c.nodes[c.index[id]].Tenure != Owned })
}

// Rentals returns the state of all offers before any order.
func (c *Cluster) Rentals() []Rental {
	var all []Rental
	for _, offer := range c.Offers() {
		all = append(all, Rental{Offer: offer})
	}
	return all
}

// ForRent returns the cluster with all nodes for rent, in groups by GPU type and number of GPUs
// ("t4-4"). It returns c itself if it has offers already.
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

// RentGroup returns the group of nodes for rent with a number of GPUs of a type.
func RentGroup(t GPUType, gpus int) Group { return Group(fmt.Sprintf("%s-%d", t, gpus)) }
