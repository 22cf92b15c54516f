package placement

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

const cpuSlack = 1e-9

// A Slot is a number of GPUs on a node. Node is an index into Cluster.Nodes.
type Slot struct{ Node, GPUs int }

// Nodes tracks the free resources of every node of a cluster.
type Nodes struct {
	cluster *cluster.Cluster
	free    []cluster.Resources
	home    []int   // index in shelves, by node
	shelves []shelf // by GPU type
	slots   []Slot  // reused
	room    []Slot  // reused
}

type shelf struct {
	info  cluster.TypeInfo
	keep  cluster.Resources // see Reserve
	nodes []int
	idle  []set // idle nodes, by GPUs
	part  []set // other nodes, by free GPUs
	most  cluster.Resources
}

// NewNodes returns the nodes of c with all resources free.
func NewNodes(c *cluster.Cluster) *Nodes {
	n := &Nodes{cluster: c, free: make([]cluster.Resources, len(c.Nodes())), home: make([]int, len(c.Nodes()))}
	for _, t := range c.Types() {
		n.shelves = append(n.shelves, shelf{info: t})
	}
	for i := range c.Nodes() {
		node := &c.Nodes()[i]
		k := n.cluster.TypeIndex(node.GPUType)
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

// Reset frees all resources, in time linear in the nodes.
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

func (n *Nodes) setOf(i int) *set {
	s, f := &n.shelves[n.home[i]], n.free[i]
	if f == n.cluster.Nodes()[i].Capacity {
		return &s.idle[f.GPUs]
	}
	return &s.part[max(0, f.GPUs)]
}

// Cluster returns the cluster of the nodes.
func (n *Nodes) Cluster() *cluster.Cluster { return n.cluster }

// Free returns the free resources of node i. Its CPUs and memory are negative if more are booked than the node has, and
// meaningless if the node does not state them.
func (n *Nodes) Free(i int) cluster.Resources { return n.free[i] }

// Take books resources r on node i. Free CPUs and memory may become negative, but Take panics if there are
// too few GPUs.
func (n *Nodes) Take(i int, r cluster.Resources) {
	if r.GPUs > n.free[i].GPUs {
		panic("placement: more GPUs taken than a node has free")
	}
	n.leave(i)
	f := &n.free[i]
	f.GPUs, f.CPUs, f.Memory = f.GPUs-r.GPUs, f.CPUs-r.CPUs, f.Memory-r.Memory
	if c := &n.cluster.Nodes()[i].Capacity; f.GPUs == c.GPUs {
		*f = *c // drop rounding errors of an idle node
	}
	n.enter(i)
}

// give frees resources r of node i, which Take booked.
func (n *Nodes) give(i int, r cluster.Resources) {
	n.Take(i, cluster.Resources{GPUs: -r.GPUs, CPUs: -r.CPUs, Memory: -r.Memory})
}

// TakeAll books the GPUs of all slots, and the CPUs and memory perGPU for each of them.
func (n *Nodes) TakeAll(slots []Slot, perGPU cluster.Resources) {
	for _, s := range slots {
		n.Take(s.Node, times(perGPU, s.GPUs))
	}
}

// GiveAll frees slots that TakeAll booked with the same perGPU.
func (n *Nodes) GiveAll(slots []Slot, perGPU cluster.Resources) {
	for _, s := range slots {
		n.give(s.Node, times(perGPU, s.GPUs))
	}
}

func times(perGPU cluster.Resources, gpus int) cluster.Resources {
	return cluster.Resources{GPUs: gpus, CPUs: float64(gpus) * perGPU.CPUs, Memory: int64(gpus) * perGPU.Memory}
}

// Slots appends the slots of placement p to dst. It returns false if a node of p is not in the cluster.
func (n *Nodes) Slots(dst []Slot, p cluster.Placement) ([]Slot, bool) {
	for i := range p {
		at, ok := n.cluster.Index(p[i].Node)
		if !ok {
			return dst, false
		}
		dst = append(dst, Slot{at, p[i].GPUs})
	}
	return dst, true
}

// Placement converts slots into a placement with the CPUs and memory perGPU for each GPU.
func (n *Nodes) Placement(slots []Slot, perGPU cluster.Resources) cluster.Placement {
	p := make(cluster.Placement, len(slots))
	for i, s := range slots {
		p[i] = cluster.Share{Node: n.cluster.Nodes()[s.Node].ID, Resources: times(perGPU, s.GPUs)}
	}
	p.Sort()
	return p
}

// Reserve sets aside the CPUs and memory perGPU for each free GPU of type t, so that the first jobs of a node leave
// CPUs for its other GPUs. BestFit, One and Split respect this until the next Reset.
func (n *Nodes) Reserve(t cluster.GPUType, perGPU cluster.Resources) {
	if k := n.cluster.TypeIndex(t); k >= 0 {
		n.shelves[k].keep = perGPU
	}
}

func (n *Nodes) fits(i, gpus int, perGPU, keep cluster.Resources) bool {
	f := &n.free[i]
	if f.GPUs < gpus {
		return false
	}
	c, rest := &n.cluster.Nodes()[i].Capacity, f.GPUs-gpus
	return c.CPUs == 0 || float64(gpus)*perGPU.CPUs+float64(rest)*keep.CPUs <= f.CPUs+cpuSlack*c.CPUs &&
		int64(gpus)*perGPU.Memory+int64(rest)*keep.Memory <= f.Memory
}

// Fits reports whether the GPUs of all slots are free, and the CPUs and memory perGPU for each of them. No two slots
// may be on the same node.
func (n *Nodes) Fits(slots []Slot, perGPU cluster.Resources) bool {
	return !slices.ContainsFunc(slots, func(s Slot) bool { return !n.fits(s.Node, s.GPUs, perGPU, cluster.Resources{}) })
}

// FitsGPUs is Fits, but ignores CPUs and memory.
func (n *Nodes) FitsGPUs(slots []Slot) bool { return n.Fits(slots, anyDemand) }

// A set is nodes with equally many free GPUs, by free CPUs, then memory: the first with room has the least
// free.
type set []int

func (n *Nodes) compare(i, j int) int {
	a, b := &n.free[i], &n.free[j]
	return cmp.Or(cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(a.Memory, b.Memory), cmp.Compare(i, j))
}

func (n *Nodes) enter(i int) {
	s := n.setOf(i)
	at, _ := slices.BinarySearchFunc(*s, i, n.compare)
	*s = slices.Insert(*s, at, i)
}

func (n *Nodes) leave(i int) {
	s := n.setOf(i)
	if at, found := slices.BinarySearchFunc(*s, i, n.compare); found {
		*s = slices.Delete(*s, at, at+1)
	}
}

func (n *Nodes) from(s set, cpus float64) set {
	at, _ := slices.BinarySearchFunc(s, cpus, func(i int, cpus float64) int { return cmp.Compare(n.free[i].CPUs, cpus) })
	return s[at:]
}
