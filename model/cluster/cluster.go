// Package cluster describes a GPU cluster: nodes, GPU types, CPUs and memory. A Configuration is a number of GPUs of
// one type on a number of nodes, an Allocation is what a job gets in one round, and a Placement lists its nodes.
package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// GPUType is a kind of GPU: "a100", "rtx", "t4".
type GPUType string

// NodeID is the name of a node, unique in its cluster.
type NodeID string

// Group is the name of a set of nodes that are rented, borrowed or drained together.
type Group string

// Price is an amount of money per GPU-hour, in any currency.
type Price float64

// Resources is an amount of GPUs, CPUs and memory.
type Resources struct {
	GPUs   int
	CPUs   float64 // cores
	Memory int64   // bytes of host memory
}

// Tenure states whether a node is owned, borrowed or rented.
type Tenure uint8

// The tenures of a node.
const (
	Owned  Tenure = iota
	Loaned        // lent by an inference cluster (Lyra §4)
	Rented        // from a cloud provider, by the hour (BOA §3)
)

// A Node is one machine whose GPUs are all of one type.
type Node struct {
	ID        NodeID
	GPUType   GPUType
	GPUMemory int64 // bytes per GPU
	Capacity  Resources
	Group     Group
	Tenure    Tenure
	Price     Price // per GPU-hour; 0: unknown
	// Interruptions is how often per hour the provider reclaims this rented node (spot); 0: never.
	Interruptions float64
	Power         float64 // watts of a busy GPU; 0: unknown
	Rack          string  // empty: unknown
	// NVLinkDomain names the nodes of one NVLink network, all in one rack; empty: none.
	NVLinkDomain string
}

// GPUPrice returns the price of a GPU per hour; 1 if unknown.
func (n *Node) GPUPrice() float64 {
	if n.Price == 0 {
		return 1
	}
	return float64(n.Price)
}

// A Cluster is an immutable set of nodes.
type Cluster struct {
	nodes     []Node
	index     map[NodeID]int
	types     []TypeInfo
	notOnLoan []TypeInfo
	lends     bool // there are nodes on loan
}

// TypeInfo has totals over all nodes of one GPU type.
type TypeInfo struct {
	Type    GPUType
	Nodes   int
	GPUs    int   // GPUs of all nodes
	PerNode int   // GPUs of the largest node
	Sizes   []int // distinct GPUs per node, ascending
	// Share is the GPU-proportional share of one GPU: the smallest CPUs and memory per GPU of any node; 0 if a
	// node does not state them.
	Share Resources
	// CPUs and Memory are totals.
	CPUs   float64
	Memory int64
}

// Counts reports whether all nodes of the type state their CPUs and memory.
func (t *TypeInfo) Counts() bool { return t.Share.CPUs > 0 && t.Share.Memory > 0 }

// Fewest returns the configuration of gpus GPUs of the type on as few nodes as possible.
func (t *TypeInfo) Fewest(gpus int) Configuration {
	return Configuration{Nodes: (gpus + t.PerNode - 1) / t.PerNode, GPUs: gpus, GPUType: t.Type}
}

// Proportional returns configuration c with CPUs and memory in proportion to its GPUs, without CPUs and memory if the
// nodes do not state them. Source: Synergy §2, "GPU-proportional allocation".
func (t *TypeInfo) Proportional(c Configuration) Allocation {
	a := Allocation{Configuration: c}
	if t.Counts() {
		a.CPUs, a.Memory = float64(c.GPUs)*t.Share.CPUs, int64(c.GPUs)*t.Share.Memory
	}
	return a
}

// New builds a cluster from nodes, in the given order. GPU types are in the order of first appearance.
func New(nodes []Node) (*Cluster, error) {
	c := &Cluster{nodes: make([]Node, 0, len(nodes)), index: make(map[NodeID]int, len(nodes))}
	var errs []error
	for i := range nodes {
		n := &nodes[i]
		if err := validate(n); err != nil {
			errs = append(errs, fmt.Errorf("node %d (%q): %w", i, n.ID, err))
			continue
		}
		if _, dup := c.index[n.ID]; dup {
			errs = append(errs, fmt.Errorf("node %d: ID %q is used twice", i, n.ID))
		}
		c.enter(n)
	}
	return c, errors.Join(errs...)
}

func validate(n *Node) error {
	switch {
	case n.ID == "":
		return errors.New("empty ID")
	case n.GPUType == "":
		return errors.New("no GPU type")
	case n.Capacity.GPUs <= 0:
		return fmt.Errorf("%d GPUs, want at least 1", n.Capacity.GPUs)
	case !(n.Capacity.CPUs >= 0) || math.IsInf(n.Capacity.CPUs, 0):
		return fmt.Errorf("%g CPUs, want a finite number of at least 0", n.Capacity.CPUs)
	case n.Capacity.Memory < 0:
		return fmt.Errorf("%d bytes of memory, want at least 0", n.Capacity.Memory)
	case (n.Capacity.CPUs == 0) != (n.Capacity.Memory == 0):
		return fmt.Errorf("%g CPUs and %d bytes of memory, want both or neither", n.Capacity.CPUs, n.Capacity.Memory)
	case !(n.Price >= 0) || math.IsInf(float64(n.Price), 0):
		return fmt.Errorf("a price of %g, want a finite one of at least 0", float64(n.Price))
	case !(n.Interruptions >= 0) || math.IsInf(n.Interruptions, 0):
		return fmt.Errorf("%g interruptions an hour, want a finite number of at least 0", n.Interruptions)
	}
	return nil
}

func count(types []TypeInfo, n *Node) []TypeInfo {
	i := slices.IndexFunc(types, func(t TypeInfo) bool { return t.Type == n.GPUType })
	if i < 0 {
		i = len(types)
		types = append(types, TypeInfo{Type: n.GPUType, Share: Resources{GPUs: 1, CPUs: math.Inf(1), Memory: math.MaxInt64}})
	}
	t := &types[i]
	t.CPUs += n.Capacity.CPUs
	t.Memory += n.Capacity.Memory
	t.Share.CPUs = min(t.Share.CPUs, n.Capacity.CPUs/float64(n.Capacity.GPUs))
	t.Share.Memory = min(t.Share.Memory, n.Capacity.Memory/int64(n.Capacity.GPUs))
	t.Nodes++
	t.GPUs += n.Capacity.GPUs
	t.PerNode = max(t.PerNode, n.Capacity.GPUs)
	if at, found := slices.BinarySearch(t.Sizes, n.Capacity.GPUs); !found {
		t.Sizes = slices.Insert(t.Sizes, at, n.Capacity.GPUs)
	}
	return types
}

// Nodes returns the nodes in the order in which New received them. Callers must not modify the slice.
func (c *Cluster) Nodes() []Node { return c.nodes }

// Types returns the totals of each GPU type. The types are in the order of their first nodes. Callers must not modify
// the slice.
func (c *Cluster) Types() []TypeInfo { return c.types }

// Lends reports whether the cluster has nodes that an inference cluster lends.
func (c *Cluster) Lends() bool { return c.lends }

// TypesNotOnLoan returns the totals of each GPU type like Types, but does not count nodes on loan. Callers must not
// modify the slice.
func (c *Cluster) TypesNotOnLoan() []TypeInfo { return c.notOnLoan }

// TypeIndex returns the position of GPU type t in Types, or -1 if the cluster does not have it.
func (c *Cluster) TypeIndex(t GPUType) int {
	for i := range c.types {
		if c.types[i].Type == t {
			return i
		}
	}
	return -1
}

// Type returns the totals of one GPU type; false if the cluster lacks it.
func (c *Cluster) Type(t GPUType) (TypeInfo, bool) {
	for _, info := range c.types {
		if info.Type == t {
			return info, true
		}
	}
	return TypeInfo{}, false
}

// Index returns the position of a node in Nodes; false if the cluster lacks it.
func (c *Cluster) Index(id NodeID) (int, bool) {
	i, ok := c.index[id]
	return i, ok
}

// On returns the part of placement p that is on nodes of GPU type t, in O(len(p)).
func (c *Cluster) On(p Placement, t GPUType) Placement {
	var of Placement
	for _, s := range p {
		if i, ok := c.index[s.Node]; ok && c.nodes[i].GPUType == t {
			of = append(of, s)
		}
	}
	return of
}

// GPUs returns the number of GPUs of the whole cluster.
func (c *Cluster) GPUs() int {
	total := 0
	for _, t := range c.types {
		total += t.GPUs
	}
	return total
}

// Without returns a copy of the cluster without the nodes for which gone is true.
func (c *Cluster) Without(gone func(NodeID) bool) *Cluster {
	rest := &Cluster{nodes: make([]Node, 0, len(c.nodes)), index: make(map[NodeID]int, len(c.nodes))}
	for i := range c.nodes {
		if n := &c.nodes[i]; !gone(n.ID) {
			rest.enter(n)
		}
	}
	return rest
}

func (c *Cluster) enter(n *Node) {
	c.index[n.ID] = len(c.nodes)
	c.nodes = append(c.nodes, *n)
	c.types = count(c.types, n)
	if n.Tenure == Loaned {
		c.lends = true
		return
	}
	c.notOnLoan = count(c.notOnLoan, n)
}

// Ordered returns the cluster with its nodes sorted by the result of key, smallest first. Nodes with equal results keep
// their order. It returns c itself if the order does not change.
func (c *Cluster) Ordered(key func(*Node) int) *Cluster {
	keys, order := make([]int, len(c.nodes)), make([]int, len(c.nodes))
	for i := range c.nodes {
		keys[i], order[i] = key(&c.nodes[i]), i
	}
	if slices.IsSorted(keys) {
		return c
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	nodes := make([]Node, len(order))
	for i, k := range order {
		nodes[i] = c.nodes[k]
	}
	ordered, err := New(nodes)
	if err != nil {
		panic("cluster: nodes of a valid cluster are invalid: " + err.Error())
	}
	return ordered
}

// Racks returns the number of racks over which placement p is spread, or 0 if a rack is unknown or p is empty. It takes
// O(len(p)) per rack.
func (c *Cluster) Racks(p Placement) int {
	var seen [8]string // avoids allocation for few racks
	all := seen[:0]
	for i := range p {
		at, ok := c.index[p[i].Node]
		if !ok || c.nodes[at].Rack == "" {
			return 0
		}
		if !slices.Contains(all, c.nodes[at].Rack) {
			all = append(all, c.nodes[at].Rack)
		}
	}
	return len(all)
}

// A Loan is the state of a group of nodes that an inference cluster lends to training. Source: Lyra §4.
type Loan struct {
	Group Group
	Node  Node // example of a node, without ID
	Nodes int  // nodes of the owner, lent or not
	Lent  int
	Spare int // further nodes that can be borrowed now; 0 while the owner wants nodes back
	// Reclaim is the number of lent nodes that the owner wants back by the time By. At By the owner takes those not
	// yet returned, whatever runs there.
	Reclaim int
	By      time.Time // zero if Reclaim is 0
	Load    float64   // fraction of its GPUs that the owner uses
	// Expected is the number of nodes that can be lent in each coming interval of length Every; nil: unknown.
	Expected []int
	Every    time.Duration
}

// Loanable returns how many of an owner's nodes can be lent. need is the fraction of all GPUs that the owner uses, and
// headroom a further fraction that is never lent. Source: Lyra §7.1, "we leave a headroom of 2% of the inference
// cluster capacity".
func Loanable(nodes int, headroom, need float64) int {
	const rounding = 1e-9 // allowed rounding error, in nodes
	n := float64(nodes)
	return max(0, int(math.Floor(n*(1-headroom)-n*need+rounding)))
}

// LoanGroup returns the name of the group of borrowed nodes that have gpus GPUs of type t each.
func LoanGroup(t GPUType, gpus int) Group { return RentGroup(t, gpus) + "-loan" }

// Loans returns the initial state of all groups of nodes on loan, in the order of their first nodes. Loan.Node is the
// first node of the group.
func (c *Cluster) Loans() []Loan {
	var loans []Loan
	for _, o := range c.groups(Loaned) {
		loans = append(loans, Loan{Group: o.Group, Node: o.Node, Nodes: o.Most})
	}
	return loans
}
