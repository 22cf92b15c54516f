package rules

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy/placement/hostalloc"
	"github.com/oxgang/oxgang/policy/synergy"
)

// serve gives a job its resources by the mechanism, if its GPUs are free.
func (r *publicRound) serve(c *candidate) {
	if r.freeGPUs() < c.gpus {
		return
	}
	switch r.o.Mechanism {
	case synergy.Proportional:
		r.fit(c, c.fair)
	case synergy.Greedy:
		r.fit(c, c.full)
	default:
		r.tune(c)
	}
}

// tune gives a job its full demand, or else its share. If the share is not free, others are cut back to theirs.
// Source: Synergy simulator.
func (r *publicRound) tune(c *candidate) {
	if r.fit(c, c.full) || c.sensitive() && r.fit(c, c.fair) {
		return
	}
	for _, node := range r.relievable(c.gpus) {
		r.relieve(node, c.fair)
		if r.fit(c, c.fair) {
			return
		}
	}
}

// fit puts a job on the first GPUs, by node, with enough CPUs and memory, and reports whether there are enough.
func (r *publicRound) fit(c *candidate, want cluster.Resources) bool {
	per, need, slots := perGPU(want), c.gpus, c.slots[:0]
	for i := range r.s.Cluster.Nodes() {
		room := hostalloc.Slot{Node: i, GPUs: min(need, r.nodes.Free(i).GPUs)}
		for room.GPUs > 0 && !r.nodes.Fits([]hostalloc.Slot{room}, per) {
			room.GPUs--
		}
		if room.GPUs > 0 {
			slots, need = append(slots, room), need-room.GPUs
		}
		if need == 0 {
			r.nodes.TakeAll(slots, per)
			c.slots, c.got = slots, want
			r.on = append(r.on, c)
			return true
		}
	}
	return false
}

// relievable returns the nodes on which others may be cut back for a job. For one GPU: the fewest free GPUs first.
// For several: by node, first those that fit the whole job.
func (r *publicRound) relievable(gpus int) []int {
	var alone, parts []int
	for i := range r.s.Cluster.Nodes() {
		switch free := r.nodes.Free(i).GPUs; {
		case free >= gpus:
			alone = append(alone, i)
		case free > 0:
			parts = append(parts, i)
		}
	}
	if gpus == 1 {
		slices.SortStableFunc(alone, func(a, b int) int { return cmp.Compare(r.nodes.Free(a).GPUs, r.nodes.Free(b).GPUs) })
	}
	return append(alone, parts...)
}

// relieve cuts jobs on a node to their shares until what a job wants is free, as far as the node has GPUs for it.
// Jobs on the fewest nodes come first, then those with the most CPUs and memory per GPU.
func (r *publicRound) relieve(node int, want cluster.Resources) {
	per, gpus := perGPU(want), min(want.GPUs, r.nodes.Free(node).GPUs)
	for _, peer := range r.peers(node) {
		if r.nodes.Fits([]hostalloc.Slot{{Node: node, GPUs: gpus}}, per) {
			return
		}
		r.nodes.GiveAll(peer.slots, perGPU(peer.got))
		peer.got = peer.fair
		r.nodes.TakeAll(peer.slots, perGPU(peer.got))
	}
}

// peers returns the jobs on a node with more than their share.
func (r *publicRound) peers(node int) []*candidate {
	var peers []*candidate
	for _, c := range r.on {
		if above(c.got, c.fair) && slices.ContainsFunc(c.slots, func(s hostalloc.Slot) bool { return s.Node == node }) {
			peers = append(peers, c)
		}
	}
	slices.SortStableFunc(peers, func(a, b *candidate) int {
		x, y := perGPU(a.got), perGPU(b.got)
		return cmp.Or(cmp.Compare(len(a.slots), len(b.slots)), -cmp.Compare(x.CPUs, y.CPUs), -cmp.Compare(x.Memory, y.Memory))
	})
	return peers
}

func (r *publicRound) freeGPUs() int {
	free := r.t.GPUs
	for _, c := range r.on {
		free -= c.gpus
	}
	return free
}

// perGPU returns a job's resources per GPU.
func perGPU(r cluster.Resources) cluster.Resources {
	return cluster.Resources{GPUs: 1, CPUs: r.CPUs / float64(r.GPUs), Memory: r.Memory / int64(r.GPUs)}
}
