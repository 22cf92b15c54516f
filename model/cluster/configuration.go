package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// A Configuration is a total number of GPUs of one type on a number of nodes; (n, r, t) in the Sia paper. The zero
// value means no GPUs. Source: Sia §3.3.3.
type Configuration struct {
	Nodes   int
	GPUs    int // total
	GPUType GPUType
}

// IsZero reports whether c has no GPUs.
func (c Configuration) IsZero() bool { return c.GPUs == 0 }

// String returns the configuration as nodes, GPUs and type: "(2, 16, t4)".
func (c Configuration) String() string {
	if c.IsZero() {
		return "(none)"
	}
	return fmt.Sprintf("(%d, %d, %s)", c.Nodes, c.GPUs, c.GPUType)
}

// An Allocation is what a job gets for one round: a configuration, and CPUs and memory for the whole job (c_j and
// m_j of Synergy). The zero value is nothing.
type Allocation struct {
	Configuration
	// Also has the GPUs of a second type, for heterogeneous jobs; zero for all others. Source: Lyra §2.1.
	Also   Configuration
	CPUs   float64 // cores
	Memory int64   // bytes of host memory
}

// AllGPUs returns the total number of GPUs, including a second type.
func (a *Allocation) AllGPUs() int { return a.GPUs + a.Also.GPUs }

// Mixed reports whether the allocation has GPUs of two types.
func (a *Allocation) Mixed() bool { return a.Also != Configuration{} }

// Has reports whether the allocation has GPUs of type t.
func (a *Allocation) Has(t GPUType) bool {
	return a.GPUType == t || a.Mixed() && a.Also.GPUType == t
}

// SameGPUs reports whether two allocations have the same GPUs; their CPUs and memory may differ.
func (a *Allocation) SameGPUs(b *Allocation) bool {
	return a.Configuration == b.Configuration && a.Also == b.Also
}

// String returns nodes, GPUs and type: "(2, 16, t4)", or "(1, 8, v100) + (2, 16, t4)" for two types.
func (a Allocation) String() string {
	if !a.Mixed() {
		return a.Configuration.String()
	}
	return a.Configuration.String() + " + " + a.Also.String()
}

// A Share is a job's GPUs, CPUs and memory on one node.
type Share struct {
	Node NodeID
	Resources
}

// A Placement lists what a job has on each of its nodes, by ascending node ID, each node once.
type Placement []Share

// GPUs returns the number of GPUs on all nodes of the placement.
func (p Placement) GPUs() int {
	total := 0
	for _, s := range p {
		total += s.GPUs
	}
	return total
}

// Equal reports whether two placements have the same nodes with the same GPUs, CPUs and memory.
func (p Placement) Equal(q Placement) bool {
	return len(p) == len(q) && (len(p) == 0 || &p[0] == &q[0] || slices.Equal(p, q))
}

// Shape returns the number of GPUs on each node, in the order of the nodes.
func (p Placement) Shape() []int {
	shape := make([]int, len(p))
	for i, s := range p {
		shape[i] = s.GPUs
	}
	return shape
}

// SameShape reports whether two placements have the same numbers of GPUs per node, on any nodes. The job then
// communicates equally fast on both.
func (p Placement) SameShape(q Placement) bool {
	if len(p) != len(q) {
		return false
	}
	a, b := p.Shape(), q.Shape()
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// SameGPUs reports whether two placements have the same GPUs; their CPUs and memory may differ.
func (p Placement) SameGPUs(q Placement) bool {
	return len(p) == len(q) && (len(p) == 0 || &p[0] == &q[0] ||
		slices.EqualFunc(p, q, func(a, b Share) bool { return a.Node == b.Node && a.GPUs == b.GPUs }))
}

// Common returns the number of GPUs that both placements have in common: for each node, the smaller of its two numbers.
func (p Placement) Common(q Placement) int {
	total, i := 0, 0
	for _, s := range p {
		for i < len(q) && q[i].Node < s.Node {
			i++
		}
		if i < len(q) && q[i].Node == s.Node {
			total += min(s.GPUs, q[i].GPUs)
		}
	}
	return total
}

// Sort orders the shares by ascending node ID.
func (p Placement) Sort() {
	slices.SortFunc(p, func(a, b Share) int { return strings.Compare(string(a.Node), string(b.Node)) })
}

// Configurations returns the configurations that Sia considers, by GPU type: 1, 2, 4, … GPUs of one node, or any number
// of whole nodes. If a node's size is not a power of two, the node counts as several smaller nodes, by the binary
// digits of its size (6 as 4 and 2), and as a whole node. Source: Sia §3.3.3.
func (c *Cluster) Configurations() []Configuration {
	var all []Configuration
	for _, t := range c.Types() {
		for gpus := 1; gpus <= t.PerNode; gpus *= 2 {
			all = append(all, Configuration{Nodes: 1, GPUs: gpus, GPUType: t.Type})
		}
		for _, size := range t.Sizes {
			all = append(all, c.wholeNodes(t.Type, size)...)
		}
	}
	return all
}

func (c *Cluster) wholeNodes(t GPUType, size int) []Configuration {
	count := 0
	for _, n := range c.Nodes() {
		if n.GPUType == t && n.Capacity.GPUs == size {
			count++
		}
	}
	var all []Configuration
	for n := 1; n <= count; n++ {
		if n == 1 && size&(size-1) == 0 {
			continue
		}
		all = append(all, Configuration{Nodes: n, GPUs: n * size, GPUType: t})
	}
	return all
}
