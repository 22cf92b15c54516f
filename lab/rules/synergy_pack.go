package rules

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/synergy"
)

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

// tune gives a job its full demand, or else its share, for which others are cut back.
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

func (r *publicRound) fit(c *candidate, want cluster.Resources) bool {
	per, need, slots := perGPU(want), c.gpus, c.slots[:0]
	for i := range r.s.Cluster.Nodes() {
		room := placement.Slot{Node: i, GPUs: min(need, r.nodes.Free(i).GPUs)}
		for room.GPUs > 0 && !r.nodes.Fits([]placement.Slot{room}, per) {
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

// relieve cuts jobs on a node to their shares until the wanted is free: fewest nodes first, then most CPUs and
// memory per GPU.
func (r *publicRound) relieve(node int, want cluster.Resources) {
	per, gpus := perGPU(want), min(want.GPUs, r.nodes.Free(node).GPUs)
	for _, peer := range r.peers(node) {
		if r.nodes.Fits([]placement.Slot{{Node: node, GPUs: gpus}}, per) {
			return
		}
		r.nodes.GiveAll(peer.slots, perGPU(peer.got))
		peer.got = peer.fair
		r.nodes.TakeAll(peer.slots, perGPU(peer.got))
	}
}

func (r *publicRound) peers(node int) []*candidate {
	var peers []*candidate
	for _, c := range r.on {
		if above(c.got, c.fair) && slices.ContainsFunc(c.slots, func(s placement.Slot) bool { return s.Node == node }) {
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

func perGPU(r cluster.Resources) cluster.Resources {
	return cluster.Resources{GPUs: 1, CPUs: r.CPUs / float64(r.GPUs), Memory: r.Memory / int64(r.GPUs)}
}
