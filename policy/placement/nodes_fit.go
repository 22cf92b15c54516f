package placement

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// BestFit searches for nodes with gpus free GPUs of type t, and with CPUs and memory (perGPU) for each of these GPUs. It
// reports whether it found them. It books nothing, and the result is valid until the next call. It tries, in this
// order:
//
//  1. stay, if these slots have exactly gpus GPUs of the type and room;
//  2. the node with room that has the fewest free GPUs, then CPUs, then memory;
//  3. as few nodes as possible, each with whole workers of worker GPUs (0 or 1: any number).
//
// Ties go to the first node. The time is at most linear in the nodes of the type. Source: Synergy §4.2.
func (n *Nodes) BestFit(t cluster.GPUType, gpus, worker int, perGPU cluster.Resources, stay []Slot) ([]Slot, bool) {
	k := n.cluster.TypeIndex(t)
	if k < 0 || gpus < 1 {
		return nil, false
	}
	if n.carries(k, stay, gpus) && n.Fits(stay, perGPU) {
		return stay, true
	}
	if i := n.one(&n.shelves[k], gpus, perGPU); i >= 0 {
		n.slots = append(n.slots[:0], Slot{i, gpus})
		return n.slots, true
	}
	return n.split(&n.shelves[k], gpus, worker, perGPU)
}

var anyDemand = cluster.Resources{CPUs: -1e300, Memory: -1 << 50}

// BestFitGPUs is BestFit, but ignores CPUs and memory.
func (n *Nodes) BestFitGPUs(t cluster.GPUType, gpus, worker int, stay []Slot) ([]Slot, bool) {
	return n.BestFit(t, gpus, worker, anyDemand, stay)
}

// One returns the single node that fits best (step 2 of BestFit); false if no node has room. The resources
// perGPU are for each GPU.
func (n *Nodes) One(t cluster.GPUType, gpus int, perGPU cluster.Resources) (int, bool) {
	k := n.cluster.TypeIndex(t)
	if k < 0 || gpus < 1 {
		return 0, false
	}
	i := n.one(&n.shelves[k], gpus, perGPU)
	return i, i >= 0
}

// Split searches for room on as few nodes as possible (step 3 of BestFit), and reports whether it found
// any. It tries nodes with most room first. The resources perGPU are for each GPU.
func (n *Nodes) Split(t cluster.GPUType, gpus, worker int, perGPU cluster.Resources) ([]Slot, bool) {
	k := n.cluster.TypeIndex(t)
	if k < 0 || gpus < 1 {
		return nil, false
	}
	return n.split(&n.shelves[k], gpus, worker, perGPU)
}

func (n *Nodes) carries(k int, slots []Slot, gpus int) bool {
	for _, s := range slots {
		if n.home[s.Node] != k {
			return false
		}
		gpus -= s.GPUs
	}
	return gpus == 0 && len(slots) > 0
}

func (n *Nodes) one(s *shelf, gpus int, perGPU cluster.Resources) int {
	if s.beyond(gpus, perGPU) {
		return -1
	}
	for g := gpus; g < len(s.part); g++ {
		best := n.least(s, s.part[g], g, gpus, perGPU)
		if best < 0 {
			best = n.least(s, s.idle[g], g, gpus, perGPU)
		}
		if best >= 0 {
			return best
		}
	}
	return -1
}

func (s *shelf) beyond(gpus int, perGPU cluster.Resources) bool {
	all := times(perGPU, gpus)
	return gpus > s.info.PerNode || s.info.Counts() && (all.CPUs > s.most.CPUs*(1+cpuSlack) || all.Memory > s.most.Memory)
}

// Beyond reports whether no single node of type t, even if idle, has gpus GPUs with the CPUs and memory perGPU for
// each.
func (n *Nodes) Beyond(t cluster.GPUType, gpus int, perGPU cluster.Resources) bool {
	k := n.cluster.TypeIndex(t)
	return k < 0 || n.shelves[k].beyond(gpus, perGPU)
}

func (n *Nodes) least(s *shelf, among set, free, gpus int, perGPU cluster.Resources) int {
	if s.info.Counts() {
		need := float64(gpus)*perGPU.CPUs + float64(free-gpus)*s.keep.CPUs
		among = n.from(among, need-cpuSlack*s.most.CPUs)
	}
	for _, i := range among {
		if n.fits(i, gpus, perGPU, s.keep) {
			return i
		}
	}
	return -1
}

func (n *Nodes) tighter(i, j int) bool {
	a, b := &n.free[i], &n.free[j]
	return cmp.Or(cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(a.Memory, b.Memory)) < 0
}

func (n *Nodes) split(s *shelf, gpus, worker int, perGPU cluster.Resources) ([]Slot, bool) {
	n.room, n.slots = n.room[:0], n.slots[:0]
	for _, i := range s.nodes {
		if r := n.roomFor(i, gpus, max(1, worker), perGPU); r > 0 {
			n.room = append(n.room, Slot{i, r})
		}
	}
	slices.SortStableFunc(n.room, func(a, b Slot) int { return cmp.Compare(b.GPUs, a.GPUs) })
	for k, r := range n.room {
		if r.GPUs >= gpus {
			n.slots = append(n.slots, Slot{n.last(n.room[k:], gpus), gpus})
			return n.slots, true
		}
		n.slots = append(n.slots, r)
		gpus -= r.GPUs
	}
	return n.slots[:0], false
}

func (n *Nodes) last(room []Slot, gpus int) int {
	best := room[0].Node
	for _, r := range room[1:] {
		if r.GPUs >= gpus && n.tighter(r.Node, best) {
			best = r.Node
		}
	}
	return best
}

func (n *Nodes) roomFor(i, most, worker int, perGPU cluster.Resources) int {
	g := min(most, n.free[i].GPUs)
	for g -= g % worker; g > 0 && !n.fits(i, g, perGPU, n.shelves[n.home[i]].keep); {
		g -= worker
	}
	return g
}
