package queue

import (
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/policy"
)

// stay gives the jobs that keep their GPUs the nodes on which they have them, so that a placer
// moves none of them, to make room or to use CPUs and memory better. Where a node has gone, or has
// fewer GPUs than it had, its jobs are left to the placer.
func (r *line) stay() {
	nodes := r.Snapshot.Cluster.Nodes()
	room := make([]int, len(nodes))
	for i := range nodes {
		room[i] = nodes[i].Capacity.GPUs
	}
	for i, j := range r.Snapshot.Jobs {
		d := &r.Plan().Jobs[i]
		if d.Allocation.SameGPUs(&j.Allocation) && len(j.Placement) > 0 && fits(r.Snapshot.Cluster, room, j.Placement) {
			keep(j, d)
		}
	}
}

// keep lets a job go on where it is. Of CPUs and memory it keeps what it holds there, at most what it is
// granted: it may have been lent those of others.
func keep(j *policy.Job, d *policy.Decision) {
	granted, held := d.Allocation, hostOf(j.Placement)
	d.Allocation, d.Placement = j.Allocation, j.Placement
	if granted.CPUs >= j.Allocation.CPUs && granted.Memory >= j.Allocation.Memory {
		return
	}
	cpus, memory := atMost(granted.CPUs, held.CPUs), atMost(float64(granted.Memory), float64(held.Memory))
	d.Placement = slices.Clone(j.Placement)
	for i := range d.Placement {
		share := &d.Placement[i]
		share.CPUs *= cpus
		share.Memory = int64(float64(share.Memory) * memory)
	}
	now := hostOf(d.Placement)
	d.Allocation.CPUs, d.Allocation.Memory = min(granted.CPUs, j.Allocation.CPUs), min(granted.Memory, j.Allocation.Memory)
	if held.CPUs > 0 || held.Memory > 0 { // else its nodes do not count them
		d.Allocation.CPUs, d.Allocation.Memory = now.CPUs, now.Memory
	}
}

// hostOf adds up the CPUs and the memory of a placement.
func hostOf(p cluster.Placement) (sum cluster.Resources) {
	for i := range p {
		sum.CPUs += p[i].CPUs
		sum.Memory += p[i].Memory
	}
	return sum
}

// atMost returns the part of what is held that is granted.
func atMost(granted, held float64) float64 {
	if held <= granted {
		return 1
	}
	return granted / held
}

// fits takes a placement's GPUs from the room on the nodes of c, and reports whether there were
// as many.
func fits(c *cluster.Cluster, room []int, p cluster.Placement) bool {
	for k, s := range p {
		n, ok := c.Index(s.Node)
		if !ok || s.GPUs > room[n] {
			for _, back := range p[:k] {
				n, _ := c.Index(back.Node)
				room[n] += back.GPUs
			}
			return false
		}
		room[n] -= s.GPUs
	}
	return true
}
