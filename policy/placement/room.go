package placement

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Room tracks the free resources of each node of a cluster. In its methods, node is an index into
// Cluster.Nodes.
type Room struct {
	cluster *cluster.Cluster
	nodes   []cluster.Node
	free    []cluster.Resources
	counts  bool
}

// NewRoom returns a Room in which all resources of cluster c are free.
func NewRoom(c *cluster.Cluster) *Room {
	r := &Room{cluster: c, nodes: c.Nodes(), free: make([]cluster.Resources, len(c.Nodes()))}
	for i := range r.nodes {
		r.free[i] = r.nodes[i].Capacity
		r.counts = r.counts || r.nodes[i].Capacity.CPUs > 0
	}
	return r
}

func (r *Room) clone() *Room {
	c := *r
	c.free = slices.Clone(r.free)
	return &c
}

// Free returns the free GPUs of a node, at least 0.
func (r *Room) Free(node int) int { return max(0, r.free[node].GPUs) }

// Close sets the free resources of a node to zero, so that nothing more is placed on it.
func (r *Room) Close(node int) { r.free[node] = cluster.Resources{} }

// Holds reports whether placement p fits: whether each of its nodes has room for the job's share on it.
func (r *Room) Holds(p cluster.Placement) bool {
	for k := range p {
		if i, ok := r.cluster.Index(p[k].Node); !ok || !r.Has(i, &p[k].Resources) {
			return false
		}
	}
	return true
}

// Has reports whether a node has room for resources s.
func (r *Room) Has(node int, s *cluster.Resources) bool {
	f := &r.free[node]
	if f.GPUs < s.GPUs {
		return false
	}
	counts := r.counts && r.nodes[node].Capacity.CPUs > 0
	return !counts || f.CPUs >= s.CPUs*(1-1e-9) && f.Memory >= s.Memory
}

// Take subtracts the resources of placement p from the free resources of its nodes. It ignores nodes that have left the
// cluster.
func (r *Room) Take(p cluster.Placement) { r.add(p, -1) }

// Give returns the resources of placement p to its nodes; it undoes Take.
func (r *Room) Give(p cluster.Placement) { r.add(p, 1) }

// TakeFrom subtracts s from the free resources of a node.
func (r *Room) TakeFrom(node int, s *cluster.Resources) { r.change(node, s, -1) }

func (r *Room) add(p cluster.Placement, sign int) {
	for k := range p {
		if i, ok := r.cluster.Index(p[k].Node); ok {
			r.change(i, &p[k].Resources, sign)
		}
	}
}

func (r *Room) change(node int, s *cluster.Resources, sign int) {
	f := &r.free[node]
	f.GPUs += sign * s.GPUs
	f.CPUs += float64(sign) * s.CPUs
	f.Memory += int64(sign) * s.Memory
}

// A Want is a request for GPUs of one type. The GPUs are requested in units, for instance the GPUs of one worker. A
// unit is placed on a single node if any node is large enough.
type Want struct {
	Type cluster.GPUType
	GPUs int
	Unit int // GPUs that must share a node; a unit larger than a node takes whole nodes
	// Each is the CPUs and memory for each GPU. It is ignored on nodes that do not count CPUs.
	Each cluster.Resources
	// Rank returns the rank of a node; 0 is best, and a node with a negative rank must not be used. If Rank
	// is nil, all nodes are equal.
	Rank func(node int) int
}

// Place finds nodes for a request and takes their GPUs. If there is no room, it returns false and takes nothing. It
// repeatedly chooses the node that can hold most of the remaining GPUs. Ties go to the best rank, and then to the
// node with the fewest free GPUs, so that empty nodes stay empty. Source: Lyra §5.3, "best-fit decreasing".
func (r *Room) Place(w Want) (cluster.Placement, bool) {
	var p cluster.Placement
	for left := w.GPUs; left > 0; {
		node, gpus := r.best(&w, left)
		if gpus == 0 {
			r.Give(p)
			return nil, false
		}
		p = append(p, r.share(&w, node, gpus))
		r.Take(p[len(p)-1:])
		left -= gpus
	}
	p.Sort()
	return merge(p), true
}

func (r *Room) share(w *Want, node, gpus int) cluster.Share {
	s := cluster.Share{Node: r.nodes[node].ID, Resources: cluster.Resources{GPUs: gpus}}
	if r.nodes[node].Capacity.CPUs > 0 {
		s.CPUs, s.Memory = float64(gpus)*w.Each.CPUs, int64(gpus)*w.Each.Memory
	}
	return s
}

func (r *Room) best(w *Want, left int) (node, gpus int) {
	node, rank := -1, 0
	for i := range r.nodes {
		fits := r.fits(w, i, left)
		if fits == 0 {
			continue
		}
		at := 0
		if w.Rank != nil {
			at = w.Rank(i)
		}
		switch {
		case at < 0:
			continue
		case node < 0, fits > gpus:
		case fits < gpus, at > rank:
			continue
		case at == rank && r.free[i].GPUs >= r.free[node].GPUs:
			continue
		}
		node, gpus, rank = i, fits, at
	}
	return node, gpus
}

func (r *Room) fits(w *Want, i, left int) int {
	n, f := &r.nodes[i], &r.free[i]
	unit := min(w.Unit, n.Capacity.GPUs, left)
	if n.GPUType != w.Type || f.GPUs < unit {
		return 0
	}
	most := f.GPUs
	if n.Capacity.CPUs > 0 {
		most = min(most, carries(f.CPUs, w.Each.CPUs), carries(float64(f.Memory), float64(w.Each.Memory)))
	}
	return min(left, most/unit*unit)
}

func carries(has, each float64) int {
	const most = 1 << 20
	if each <= 0 || has >= most*each {
		return most
	}
	return max(0, int(has/each*(1+1e-12)))
}

func merge(p cluster.Placement) cluster.Placement {
	out := p[:0]
	for _, s := range p {
		if n := len(out); n > 0 && out[n-1].Node == s.Node {
			out[n-1].GPUs += s.GPUs
			out[n-1].CPUs += s.CPUs
			out[n-1].Memory += s.Memory
			continue
		}
		out = append(out, s)
	}
	return out
}
