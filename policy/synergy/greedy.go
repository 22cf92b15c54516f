package synergy

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

type greedy struct {
	of    *policy.Snapshot
	slots [][]placement.Slot  // by job; nil: not placed
	full  []refusal           // demands that fit no node in this round
	owed  []cluster.Resources // by GPU type: to reservations that fit no node
}

// A refusal is a demand that fits no single node. It stays so, also for larger demands: free resources only
// shrink in a round.
type refusal struct {
	gpus   cluster.GPUType
	demand cluster.Resources
}

// admit is the queue's gate: it lets job i run if its full demand fits on one node, or on the fewest if none
// has so many GPUs. Jobs with a reservation and non-preemptive jobs get their share, so that later jobs have
// theirs. Source: Synergy §3.3.
func (p *Policy) admit(s *policy.Snapshot, i int, a *cluster.Allocation) bool {
	g, nodes := &p.greedy, p.packing.nodes
	if g.of != s {
		g.of, g.slots, g.full = s, make([][]placement.Slot, len(s.Jobs)), g.full[:0]
		g.owed = make([]cluster.Resources, len(p.cluster.Types()))
		nodes.Reset()
	}
	kind := p.cluster.TypeIndex(a.GPUType)
	j, t := s.Jobs[i], &p.cluster.Types()[kind]
	switch {
	case !t.Counts():
		return true
	case j.NonPreemptive && j.Holding():
		g.slots[i] = p.packing.pin(j)
		return true
	}
	per := each(a)
	if j.Reservation.IsZero() && !j.NonPreemptive {
		r := p.row(j, t, a.Configuration)
		r.seen = p.round
		per = r.cells[len(r.cells)-1].per()
	}
	a.CPUs, a.Memory = float64(a.GPUs)*per.CPUs, int64(a.GPUs)*per.Memory
	slots, ok := p.firstFit(j, a, per)
	switch owed := &g.owed[kind]; {
	case !ok && !j.Reservation.IsZero():
		owed.CPUs, owed.Memory = owed.CPUs+a.CPUs, owed.Memory+a.Memory
		return false
	case !ok || *owed != (cluster.Resources{}) && !p.leaves(a, owed):
		return false
	}
	g.slots[i] = append([]placement.Slot(nil), slots...)
	nodes.TakeAll(slots, per)
	return true
}

// leaves reports whether the nodes still have what is owed after an allocation. A reservation is granted even
// without room; other jobs then get less.
func (p *Policy) leaves(a *cluster.Allocation, owed *cluster.Resources) bool {
	free := cluster.Resources{}
	for n, node := range p.cluster.Nodes() {
		if node.GPUType == a.GPUType {
			has := p.packing.nodes.Free(n)
			free.CPUs, free.Memory = free.CPUs+has.CPUs, free.Memory+has.Memory
		}
	}
	return a.CPUs+owed.CPUs <= free.CPUs && a.Memory+owed.Memory <= free.Memory
}

func each(a *cluster.Allocation) cluster.Resources {
	return cluster.Resources{GPUs: 1, CPUs: a.CPUs / float64(a.GPUs), Memory: a.Memory / int64(a.GPUs)}
}

func (p *Policy) firstFit(j *policy.Job, a *cluster.Allocation, per cluster.Resources) ([]placement.Slot, bool) {
	nodes := p.packing.nodes
	if held := p.packing.held(j); len(held) > 0 && j.Placement.GPUs() == a.GPUs && j.Allocation.GPUType == a.GPUType && nodes.Fits(held, per) {
		return held, true
	}
	want := refusal{a.GPUType, cluster.Resources{GPUs: a.GPUs, CPUs: a.CPUs, Memory: a.Memory}}
	if a.Nodes == 1 && slices.ContainsFunc(p.greedy.full, want.atLeast) {
		return nil, false
	}
	for n := range p.cluster.Nodes() {
		one := []placement.Slot{{Node: n, GPUs: a.GPUs}}
		if p.cluster.Nodes()[n].GPUType == a.GPUType && nodes.Free(n).GPUs >= a.GPUs && nodes.Fits(one, per) {
			return one, true
		}
	}
	if a.Nodes == 1 {
		p.greedy.full = append(p.greedy.full, want)
		return nil, false
	}
	return nodes.Split(a.GPUType, a.GPUs, j.WorkerGPUs, per)
}

func (r refusal) atLeast(o refusal) bool {
	return r.gpus == o.gpus && r.demand.GPUs >= o.demand.GPUs && r.demand.CPUs >= o.demand.CPUs && r.demand.Memory >= o.demand.Memory
}

func (p *Policy) placeAdmitted(s *policy.Snapshot, plan *policy.Plan) {
	if p.greedy.of != s {
		return
	}
	for i, slots := range p.greedy.slots {
		d, j := &plan.Jobs[i], s.Jobs[i]
		if slots == nil || d.Allocation.GPUs == 0 {
			continue
		}
		if j.NonPreemptive && j.Holding() {
			d.Placement = j.Placement
			continue
		}
		d.Placement = p.packing.nodes.Placement(slots, each(&d.Allocation))
		if d.Placement.Equal(j.Placement) {
			d.Placement = j.Placement
		}
	}
	p.greedy.of = nil
}
