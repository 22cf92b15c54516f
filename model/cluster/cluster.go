// Package cluster names what jobs run on: GPU types, nodes and their
// resources, and the three ways to speak of a share of them. A Configuration
// is an amount a policy chooses between, an Allocation is what a plan grants,
// a Placement says on which machines.
package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// GPUType names one kind of GPU: "a100", "rtx", "t4".
type GPUType string

// NodeID names a node, uniquely in its cluster.
type NodeID string

// Group names nodes that are rented, loaned or drained together.
type Group string

// Price is money per GPU-hour.
type Price float64

// Resources is an amount of what a node offers or a job holds.
type Resources struct {
	GPUs   int
	CPUs   float64 // cores
	Memory int64   // host bytes
}

// Tenure says whose a node is.
type Tenure uint8

// The tenures of a node.
const (
	Owned  Tenure = iota
	Loaned        // from an inference cluster (Lyra §4)
	Rented        // by the hour (BOA §3)
)

// A Node is one machine whose GPUs are all of one type.
type Node struct {
	ID        NodeID
	GPUType   GPUType
	GPUMemory int64 // per GPU, bytes
	Capacity  Resources
	Group     Group
	Tenure    Tenure
	Price     Price // per GPU-hour; zero if not known
	// Interruptions is how often per hour a provider takes a rented node back that it
	// had let (spot); zero: never.
	Interruptions float64
	Power         float64 // watts per busy GPU; zero if not known
	Rack          string  // empty: not known
	// NVLinkDomain names the nodes whose GPUs one NVLink network joins, as those of an NVL72; empty:
	// there is none beyond the node. It lies within a rack.
	NVLinkDomain string
}

// GPUPrice returns what a GPU costs per hour; 1, a GPU-hour, where no price is known.
func (n *Node) GPUPrice() float64 {
	if n.Price == 0 {
		return 1
	}
	return float64(n.Price)
}

// A Cluster is an immutable set of nodes. Build one with New.
type Cluster struct {
	nodes []Node
	index map[NodeID]int
	types []TypeInfo
	kept  []TypeInfo // of the nodes that are not on loan
	lends bool       // there are others
}

// TypeInfo sums up the nodes of one GPU type.
type TypeInfo struct {
	Type    GPUType
	Nodes   int
	GPUs    int   // in total
	PerNode int   // GPUs of the largest node
	Sizes   []int // distinct GPUs per node, ascending
	// Share is the GPU-proportional share of one GPU: the least CPUs and memory
	// per GPU of any node, so that every node has it for each of its GPUs. Both
	// are 0 where some node does not say what it has: they are not counted then.
	Share Resources
	// CPUs and Memory are the totals of the nodes.
	CPUs   float64
	Memory int64
}

// Counts reports whether CPUs and memory of the type's nodes are known.
func (t *TypeInfo) Counts() bool { return t.Share.CPUs > 0 && t.Share.Memory > 0 }

// Fewest returns the configuration of so many GPUs on as few nodes as can carry them.
func (t *TypeInfo) Fewest(gpus int) Configuration {
	return Configuration{Nodes: (gpus + t.PerNode - 1) / t.PerNode, GPUs: gpus, GPUType: t.Type}
}

// Proportional returns the GPU-proportional allocation of c: CPUs and memory by
// the share of each GPU, none where they are not counted. Source: Synergy §2,
// "GPU-proportional allocation".
func (t *TypeInfo) Proportional(c Configuration) Allocation {
	a := Allocation{Configuration: c}
	if t.Counts() {
		a.CPUs, a.Memory = float64(c.GPUs)*t.Share.CPUs, int64(c.GPUs)*t.Share.Memory
	}
	return a
}

// New returns the cluster of the given nodes, in the given order; GPU types
// are ordered by first appearance. It returns an error that joins all
// complaints: an empty or repeated ID, no GPU type, no GPUs, numbers that cannot be.
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

// count adds a node to the sums of its type.
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

// Nodes returns the nodes in the order given to New; callers must not modify
// the slice.
func (c *Cluster) Nodes() []Node { return c.nodes }

// Types returns the GPU types by first appearance; callers must not modify
// the slice.
func (c *Cluster) Types() []TypeInfo { return c.types }

// Lends reports whether there are nodes on loan.
func (c *Cluster) Lends() bool { return c.lends }

// Kept returns what Types does of the nodes that are not on loan, which no owner takes back;
// callers must not modify the slice.
func (c *Cluster) Kept() []TypeInfo { return c.kept }

// Type returns what is known of one GPU type, and whether the cluster has it.
func (c *Cluster) Type(t GPUType) (TypeInfo, bool) {
	for _, info := range c.types {
		if info.Type == t {
			return info, true
		}
	}
	return TypeInfo{}, false
}

// Index returns the position of a node in Nodes, and whether it is there.
func (c *Cluster) Index(id NodeID) (int, bool) {
	i, ok := c.index[id]
	return i, ok
}

// On returns the shares of p that are on nodes of one GPU type. It costs O(len(p)).
func (c *Cluster) On(p Placement, t GPUType) Placement {
	var of Placement
	for _, s := range p {
		if i, ok := c.index[s.Node]; ok && c.nodes[i].GPUType == t {
			of = append(of, s)
		}
	}
	return of
}

// GPUs returns the number of GPUs of all types.
func (c *Cluster) GPUs() int {
	total := 0
	for _, t := range c.types {
		total += t.GPUs
	}
	return total
}

// Without returns the cluster less the given nodes.
func (c *Cluster) Without(gone func(NodeID) bool) *Cluster {
	rest := &Cluster{nodes: make([]Node, 0, len(c.nodes)), index: make(map[NodeID]int, len(c.nodes))}
	for i := range c.nodes {
		if n := &c.nodes[i]; !gone(n.ID) {
			rest.enter(n)
		}
	}
	return rest
}

// enter adds a node to those of a cluster that is being built.
func (c *Cluster) enter(n *Node) {
	c.index[n.ID] = len(c.nodes)
	c.nodes = append(c.nodes, *n)
	c.types = count(c.types, n)
	if n.Tenure == Loaned {
		c.lends = true
		return
	}
	c.kept = count(c.kept, n)
}

// Ordered returns the cluster with its nodes in ascending order of a key, which is asked of each once; nodes of
// equal keys stay in their order. It is c itself where they are in that order.
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
