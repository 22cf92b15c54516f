package queue

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/policy"
)

// stay gives the jobs that keep what they hold the nodes on which they hold it, so that a
// placer moves none of them to make room. Where none starts, nothing is to be placed, and
// where a node has gone, or has fewer GPUs than it had, its jobs are left to the placer.
func (r *line) stay() {
	if !r.starts() {
		return
	}
	nodes := r.Snapshot.Cluster.Nodes()
	room := make([]int, len(nodes))
	for i := range nodes {
		room[i] = nodes[i].Capacity.GPUs
	}
	for i, j := range r.Snapshot.Jobs {
		if d := &r.Plan().Jobs[i]; keeps(j, d) && fits(r.Snapshot.Cluster, room, j.Placement) {
			d.Placement = j.Placement
		}
	}
}

// starts reports whether some job is granted something that it does not hold.
func (r *line) starts() bool {
	for i, j := range r.Snapshot.Jobs {
		if d := &r.Plan().Jobs[i]; !d.Allocation.IsZero() && !keeps(j, d) {
			return true
		}
	}
	return false
}

// keeps reports whether a job is granted what it holds.
func keeps(j *policy.Job, d *policy.Decision) bool {
	return d.Allocation == j.Allocation && len(j.Placement) > 0
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
