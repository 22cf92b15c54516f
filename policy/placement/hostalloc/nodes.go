package hostalloc

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// cpuSlack is what sums of CPUs may be above a capacity by rounding, relatively.
const cpuSlack = 1e-9

// A Slot is some GPUs of a node, which goes by its position in the cluster.
type Slot struct{ Node, GPUs int }

// Nodes is what is free of the nodes of a cluster. Not safe for concurrent use.
type Nodes struct {
	cluster *cluster.Cluster
	free    []cluster.Resources // by node
	home    []int               // by node: its shelf
	shelves []shelf             // by GPU type
	slots   []Slot              // memory of BestFit
	room    []Slot              // memory of split
}

// A shelf is the nodes of one GPU type, by how many of their GPUs are free.
type shelf struct {
	info  cluster.TypeInfo
	keep  cluster.Resources // see Reserve
	nodes []int             // positions in the cluster, ascending
	idle  []set             // by free GPUs: nodes of which nothing is taken
	part  []set             // by free GPUs: the others
	most  cluster.Resources // the most CPUs, and the most memory, that any node has
}

// NewNodes returns the nodes of c, all free.
func NewNodes(c *cluster.Cluster) *Nodes {
	n := &Nodes{cluster: c, free: make([]cluster.Resources, len(c.Nodes())), home: make([]int, len(c.Nodes()))}
	for _, t := range c.Types() {
		n.shelves = append(n.shelves, shelf{info: t})
	}
	for i := range c.Nodes() {
		node := &c.Nodes()[i]
		k := n.typeIndex(node.GPUType)
		s := &n.shelves[k]
		n.home[i] = k
		s.nodes = append(s.nodes, i)
		s.most.CPUs, s.most.Memory = max(s.most.CPUs, node.Capacity.CPUs), max(s.most.Memory, node.Capacity.Memory)
	}
	for k := range n.shelves {
		s := &n.shelves[k]
		for range s.info.PerNode + 1 {
			s.idle, s.part = append(s.idle, nil), append(s.part, nil)
		}
	}
	n.Reset()
	return n
}

// Reset frees everything. It takes time linear in nodes.
func (n *Nodes) Reset() {
	for k := range n.shelves {
		n.shelves[k].keep = cluster.Resources{}
		for g := range n.shelves[k].part {
			n.shelves[k].idle[g] = n.shelves[k].idle[g][:0]
			n.shelves[k].part[g] = n.shelves[k].part[g][:0]
		}
	}
	for i := range n.free {
		n.free[i] = n.cluster.Nodes()[i].Capacity
		n.enter(i)
	}
}

func (n *Nodes) typeIndex(t cluster.GPUType) int {
	for i, info := range n.cluster.Types() {
		if info.Type == t {
			return i
		}
	}
	return -1
}

// setOf returns the set that node i belongs to.
func (n *Nodes) setOf(i int) *set {
	s, f := &n.shelves[n.home[i]], n.free[i]
	if f == n.cluster.Nodes()[i].Capacity {
		return &s.idle[f.GPUs]
	}
	return &s.part[max(0, f.GPUs)]
}

// Cluster returns the cluster whose nodes they are.
func (n *Nodes) Cluster() *cluster.Cluster { return n.cluster }

// Free returns what is free of node i. CPUs and memory are negative where more
// was taken than the node has; on nodes that do not count them they mean nothing.
func (n *Nodes) Free(i int) cluster.Resources { return n.free[i] }

// Take takes r of node i, without a look at what is free, but for GPUs: it panics
// if there are fewer.
func (n *Nodes) Take(i int, r cluster.Resources) {
	if r.GPUs > n.free[i].GPUs {
		panic("shares: more GPUs taken than a node has free")
	}
	n.leave(i)
	f := &n.free[i]
	f.GPUs, f.CPUs, f.Memory = f.GPUs-r.GPUs, f.CPUs-r.CPUs, f.Memory-r.Memory
	if c := &n.cluster.Nodes()[i].Capacity; f.GPUs == c.GPUs {
		*f = *c // no rounding stays behind on an idle node
	}
	n.enter(i)
}

// Give gives back what Take took.
func (n *Nodes) Give(i int, r cluster.Resources) {
	n.Take(i, cluster.Resources{GPUs: -r.GPUs, CPUs: -r.CPUs, Memory: -r.Memory})
}

// TakeAll takes slots, with so much of CPUs and memory for every GPU; GiveAll
// gives them back.
func (n *Nodes) TakeAll(slots []Slot, per cluster.Resources) {
	for _, s := range slots {
		n.Take(s.Node, times(per, s.GPUs))
	}
}

// GiveAll gives back what TakeAll took.
func (n *Nodes) GiveAll(slots []Slot, per cluster.Resources) {
	for _, s := range slots {
		n.Give(s.Node, times(per, s.GPUs))
	}
}

// times returns what so many GPUs get, if each gets per.
func times(per cluster.Resources, gpus int) cluster.Resources {
	return cluster.Resources{GPUs: gpus, CPUs: float64(gpus) * per.CPUs, Memory: int64(gpus) * per.Memory}
}

// Slots appends the slots of a placement to to, and reports whether all its nodes
// are there.
func (n *Nodes) Slots(to []Slot, p cluster.Placement) ([]Slot, bool) {
	for i := range p {
		at, ok := n.cluster.Index(p[i].Node)
		if !ok {
			return to, false
		}
		to = append(to, Slot{at, p[i].GPUs})
	}
	return to, true
}

// Placement names slots, with so much of CPUs and memory for every GPU. Their
// sums over the shares are per times the GPUs.
func (n *Nodes) Placement(slots []Slot, per cluster.Resources) cluster.Placement {
	p := make(cluster.Placement, len(slots))
	for i, s := range slots {
		p[i] = cluster.Share{Node: n.cluster.Nodes()[s.Node].ID, Resources: times(per, s.GPUs)}
	}
	p.Sort()
	return p
}

// Reserve says what BestFit and its kin leave for every GPU of a type that stays
// free on a node, until the next Reset: without it the first jobs on a node could
// take all of its CPUs, and its other GPUs would be of no use.
func (n *Nodes) Reserve(t cluster.GPUType, per cluster.Resources) {
	if k := n.typeIndex(t); k >= 0 {
		n.shelves[k].keep = per
	}
}

// fits reports whether node i has room for gpus GPUs with so much each, and leaves
// keep for each of its other free ones. Nodes that do not count CPUs and memory
// have room for any.
func (n *Nodes) fits(i, gpus int, per, keep cluster.Resources) bool {
	f := &n.free[i]
	if f.GPUs < gpus {
		return false
	}
	c, rest := &n.cluster.Nodes()[i].Capacity, f.GPUs-gpus
	return c.CPUs == 0 || float64(gpus)*per.CPUs+float64(rest)*keep.CPUs <= f.CPUs+cpuSlack*c.CPUs &&
		int64(gpus)*per.Memory+int64(rest)*keep.Memory <= f.Memory
}

// Fits reports whether all of slots are free, with so much of CPUs and memory for
// every GPU. Slots name each node once.
func (n *Nodes) Fits(slots []Slot, per cluster.Resources) bool {
	return !slices.ContainsFunc(slots, func(s Slot) bool { return !n.fits(s.Node, s.GPUs, per, cluster.Resources{}) })
}

// FitsGPUs is Fits without a look at CPUs and memory.
func (n *Nodes) FitsGPUs(slots []Slot) bool { return n.Fits(slots, nothing) }
