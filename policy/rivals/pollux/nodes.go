package pollux

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

type slot struct {
	node      int
	typeIndex int
	gpus      int
	last      bool
}

// cut divides nodes into virtual nodes as large as the smallest, and remainders. Source: Sia §3.4.3, "Fixing
// mixed-GPU allocations from Pollux".
func cut(c *cluster.Cluster) []slot {
	size := 0
	for _, n := range c.Nodes() {
		if size == 0 || n.Capacity.GPUs < size {
			size = n.Capacity.GPUs
		}
	}
	var all []slot
	for i, n := range c.Nodes() {
		kind := slices.IndexFunc(c.Types(), func(t cluster.TypeInfo) bool { return t.Type == n.GPUType })
		for left := n.Capacity.GPUs; left > 0; left -= size {
			all = append(all, slot{node: i, typeIndex: kind, gpus: min(size, left), last: left <= size})
		}
	}
	return all
}

func (r *round) lay(row []int, where cluster.Placement, free []int) bool {
	all := true
	for _, share := range where {
		node, ok := r.s.Cluster.Index(share.Node)
		if !ok {
			all = false
			continue
		}
		left := share.GPUs
		if at := r.snug(node, left, free); at >= 0 {
			row[at], free[at], left = row[at]+left, free[at]-left, 0
		}
		for i := range r.slots {
			if n := min(left, free[i]); r.slots[i].node == node && n > 0 {
				row[i], free[i], left = row[i]+n, free[i]-n, left-n
			}
		}
		all = all && left == 0
	}
	return all
}

func (r *round) snug(node, gpus int, free []int) int {
	best := -1
	for i := range r.slots {
		if r.slots[i].node == node && free[i] >= gpus && (best < 0 || free[i] < free[best]) {
			best = i
		}
	}
	return best
}

func (r *round) placement(row []int) cluster.Placement {
	var where cluster.Placement
	gpus := 0
	for i, at := range r.slots {
		if gpus += row[i]; !at.last {
			continue
		}
		if gpus > 0 {
			t := &r.types[at.typeIndex]
			a := t.Proportional(cluster.Configuration{GPUs: gpus})
			where = append(where, cluster.Share{
				Node:      r.s.Cluster.Nodes()[at.node].ID,
				Resources: cluster.Resources{GPUs: gpus, CPUs: a.CPUs, Memory: a.Memory},
			})
		}
		gpus = 0
	}
	where.Sort()
	return where
}
