package cluster

import (
	"fmt"
	"slices"
)

// An Offer is nodes of one kind that can be rented by the hour.
type Offer struct {
	Group Group // by which they are asked for
	Node  Node  // what each is like, but for its ID
	Most  int   // nodes at a time
}

// GPUPrice returns what a GPU of the offer costs per hour.
func (o *Offer) GPUPrice() float64 { return o.Node.GPUPrice() }

// NodePrice returns what a node of the offer costs per hour.
func (o *Offer) NodePrice() float64 { return o.GPUPrice() * float64(o.Node.Capacity.GPUs) }

// Fewest returns the configuration of so many GPUs on as few of the nodes as can carry
// them.
func (o *Offer) Fewest(gpus int) Configuration {
	t := TypeInfo{Type: o.Node.GPUType, PerNode: o.Node.Capacity.GPUs}
	return t.Fewest(gpus)
}

// A Rental is the state of an offer. All its nodes are paid for: those that are there (Ready),
// also while they are broken and not in the cluster; those that are ordered (Starting); and
// those that were given back, or that the provider takes back, until they are gone (Leaving).
type Rental struct {
	Offer
	Ready, Starting, Leaving int
	// Refused: the provider did not have all nodes of the last order.
	Refused bool
}

// Offers returns what can be rented: the nodes of tenure Rented, by group, in the order
// in which groups first appear. The first node of a group stands for all.
func (c *Cluster) Offers() []Offer { return c.groups(Rented) }

// groups returns the groups of nodes of one tenure, and how many nodes each has.
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

// Held returns the cluster less all nodes of tenure Rented and Loaned: what is there before
// anything is rented or lent. It is c itself if nothing can be.
func (c *Cluster) Held() *Cluster {
	if !slices.ContainsFunc(c.nodes, func(n Node) bool { return n.Tenure != Owned }) {
		return c
	}
	return c.Without(func(id NodeID) bool { return c.nodes[c.index[id]].Tenure != Owned })
}

// Rentals returns the state of all offers before any node is rented.
func (c *Cluster) Rentals() []Rental {
	var all []Rental
	for _, offer := range c.Offers() {
		all = append(all, Rental{Offer: offer})
	}
	return all
}

// ForRent returns the cluster in which every node can be rented, in groups of one GPU
// type and number of GPUs ("t4-4"). It is c itself if something can be rented already.
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

// RentGroup returns the group of nodes for rent of so many GPUs of a type.
func RentGroup(t GPUType, gpus int) Group { return Group(fmt.Sprintf("%s-%d", t, gpus)) }
