package synergy

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

type packing struct {
	nodes *placement.Nodes
	on    [][]int            // by node: tenants
	slots [][]placement.Slot // by tenant; nil: not placed
	stay  []placement.Slot
}

func newPacking(c *cluster.Cluster) packing {
	return packing{nodes: placement.NewNodes(c), on: make([][]int, len(c.Nodes()))}
}

func (g *packing) reset(tenants int) {
	g.nodes.Reset()
	for i := range g.on {
		g.on[i] = g.on[i][:0]
	}
	g.slots = append(g.slots[:0], make([][]placement.Slot, tenants)...)
}

func (g *packing) held(j *policy.Job) []placement.Slot {
	var ok bool
	if g.stay, ok = g.nodes.Slots(g.stay[:0], j.Placement); !ok {
		return nil
	}
	return g.stay
}

func (g *packing) take(k int, slots []placement.Slot, per cluster.Resources) {
	g.slots[k] = append([]placement.Slot(nil), slots...)
	g.nodes.TakeAll(slots, per)
	for _, s := range slots {
		g.on[s.Node] = append(g.on[s.Node], k)
	}
}

func (p *Policy) keep(s *policy.Snapshot) {
	g := &p.packing
	for k := range p.tenants {
		t := &p.tenants[k]
		if j := s.Jobs[t.index]; t.fixed && j.Holding() {
			g.slots[k] = g.pin(j)
		}
	}
}

// pin books a job where it is and returns its slots; nil if they are gone. CPUs and memory beyond its
// placement are taken from the first node.
func (g *packing) pin(j *policy.Job) []placement.Slot {
	slots, ok := g.nodes.Slots(nil, j.Placement)
	if !ok || len(slots) == 0 || !g.nodes.FitsGPUs(slots) {
		return nil
	}
	more := cluster.Resources{CPUs: j.Allocation.CPUs, Memory: j.Allocation.Memory}
	for i, slot := range slots {
		share := j.Placement[i].Resources
		g.nodes.Take(slot.Node, share)
		more.CPUs, more.Memory = more.CPUs-share.CPUs, more.Memory-share.Memory
	}
	more.CPUs, more.Memory = max(0, more.CPUs), max(0, more.Memory)
	g.nodes.Take(slots[0].Node, more)
	return slots
}

// fit places tenant k with a cell by best fit, where it is if there is room. Source: Synergy §4.2.
func (p *Policy) fit(s *policy.Snapshot, k, level int) bool {
	g, t := &p.packing, &p.tenants[k]
	j := s.Jobs[t.index]
	per := t.cells[level].per()
	slots, ok := g.nodes.BestFit(p.cluster.Types()[t.typeIndex].Type, t.gpus, j.WorkerGPUs, per, g.held(j))
	if ok {
		t.level = level
		g.take(k, slots, per)
	}
	return ok
}

// force places tenant k with its first cell by GPUs alone, and reverts other jobs there until it fits. That
// suffices, because first cells are within the shares of a node's GPUs. Source: Synergy §4.2, step 2.
func (p *Policy) force(s *policy.Snapshot, k int) {
	g, t := &p.packing, &p.tenants[k]
	j := s.Jobs[t.index]
	slots, ok := g.nodes.BestFitGPUs(p.cluster.Types()[t.typeIndex].Type, t.gpus, j.WorkerGPUs, g.held(j))
	if !ok {
		return
	}
	slots = append([]placement.Slot(nil), slots...)
	per := t.cells[0].per()
	for _, slot := range slots {
		one := []placement.Slot{slot}
		for !g.nodes.Fits(one, per) {
			if !p.revert(slot.Node) {
				return
			}
		}
	}
	t.level = 0
	g.take(k, slots, per)
}

// revert switches a tenant of a node to its first cell: the one on the fewest nodes, then with the most CPUs,
// then memory; false if there is none.
func (p *Policy) revert(node int) bool {
	g, worst := &p.packing, -1
	for _, k := range g.on[node] {
		if p.tenants[k].level > 0 && (worst < 0 || p.before(k, worst)) {
			worst = k
		}
	}
	if worst < 0 {
		return false
	}
	t := &p.tenants[worst]
	g.nodes.GiveAll(g.slots[worst], t.cells[t.level].per())
	t.level = 0
	g.nodes.TakeAll(g.slots[worst], t.cells[0].per())
	return true
}

func (p *Policy) before(a, b int) bool {
	if x, y := len(p.packing.slots[a]), len(p.packing.slots[b]); x != y {
		return x < y
	}
	x, y := &p.tenants[a], &p.tenants[b]
	if x.cells[x.level].CPUs != y.cells[y.level].CPUs {
		return x.cells[x.level].CPUs > y.cells[y.level].CPUs
	}
	return x.cells[x.level].Memory > y.cells[y.level].Memory
}

func (p *Policy) place(s *policy.Snapshot, plan *policy.Plan) {
	g := &p.packing
	for k := range p.tenants {
		t := &p.tenants[k]
		d, j := &plan.Jobs[t.index], s.Jobs[t.index]
		switch {
		case g.slots[k] == nil:
			continue
		case t.fixed && j.Holding():
			d.Placement = j.Placement
			continue
		}
		got := t.cells[t.level].all(t.gpus)
		d.Allocation.CPUs, d.Allocation.Memory = got.CPUs, got.Memory
		d.Placement = g.nodes.Placement(g.slots[k], t.cells[t.level].per())
		if d.Placement.Equal(j.Placement) {
			d.Placement = j.Placement
		}
	}
}
