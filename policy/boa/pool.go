package boa

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// A pool is the nodes of one GPU type: present ones, and starting or rentable ones that are opened as jobs
// need them.
type pool struct {
	gpu   cluster.GPUType
	share cluster.Resources // CPUs and memory of a GPU, if counted
	nodes []slot
	rooms []int // number of nodes by free GPUs
}

type slot struct {
	id    cluster.NodeID // empty: not there yet
	group int            // index of its offer; -1: owned
	size  int
	free  cluster.Resources
	used  bool // the plan has a job on it
	paid  bool // there, ordered, or opened for a job of the plan
	jobs  int
}

func (y *pool) fits(n *slot) int {
	gpus := n.free.GPUs
	if y.share.CPUs > 0 && n.id != "" {
		gpus = min(gpus, int(n.free.CPUs/y.share.CPUs*(1+1e-9)), int(n.free.Memory/max(1, y.share.Memory)))
	}
	return gpus
}

func (y *pool) has(p cluster.Placement, at map[cluster.NodeID]int) bool {
	for _, s := range p {
		i, ok := at[s.Node]
		if !ok || i >= len(y.nodes) || y.nodes[i].id != s.Node || y.nodes[i].free.GPUs < s.GPUs {
			return false
		}
	}
	return true
}

func (y *pool) add(n slot) {
	y.nodes = append(y.nodes, n)
	for len(y.rooms) <= n.size {
		y.rooms = append(y.rooms, 0)
	}
	y.rooms[n.size]++
}

func (y *pool) use(i int, r cluster.Resources) {
	n := &y.nodes[i]
	n.used = true
	n.jobs++
	y.change(n, cluster.Resources{GPUs: -r.GPUs, CPUs: -r.CPUs, Memory: -r.Memory})
}

func (y *pool) change(n *slot, r cluster.Resources) {
	y.rooms[n.free.GPUs]--
	n.free.GPUs, n.free.CPUs, n.free.Memory = n.free.GPUs+r.GPUs, n.free.CPUs+r.CPUs, n.free.Memory+r.Memory
	y.rooms[n.free.GPUs]++
}

func (y *pool) room(gpus int) bool {
	return gpus < len(y.rooms) && slices.ContainsFunc(y.rooms[gpus:], func(nodes int) bool { return nodes > 0 })
}

type part struct{ node, gpus int }

func (y *pool) seat(needs []int, held map[cluster.NodeID]bool, open func() bool) []part {
	var parts []part
	for _, need := range needs {
		i := y.best(need, held, parts)
		if i < 0 {
			if !open() {
				return nil
			}
			i = len(y.nodes) - 1
		}
		parts = append(parts, part{i, need})
	}
	return parts
}

func (y *pool) best(need int, held map[cluster.NodeID]bool, taken []part) int {
	best, rank := -1, 0
	if !y.room(need) {
		return best
	}
	for i := range y.nodes {
		n := &y.nodes[i]
		if n.free.GPUs < need {
			continue
		}
		room := y.fits(n)
		r := n.rank(room, held)
		if room < need || best >= 0 && r >= rank || slices.ContainsFunc(taken, func(p part) bool { return p.node == i }) {
			continue
		}
		best, rank = i, r
	}
	return best
}

func (n *slot) rank(room int, held map[cluster.NodeID]bool) int {
	const more = 1 << 12
	rank := room
	if !held[n.id] {
		rank += more
	}
	if !n.used {
		rank += 2 * more
	}
	if !n.used && n.group >= 0 {
		rank += 4 * more
	}
	if n.id == "" {
		rank += 8 * more
	}
	return rank
}
