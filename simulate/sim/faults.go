package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

func (w *World) plan() {
	f := &w.o.Faults
	for _, n := range w.in.full.Nodes() {
		if f.NodeMTBF > 0 {
			w.failLater(n.ID, rng.Stream(w.o.Seed, "node/"+string(n.ID)))
		}
		if f.GPUMTBF > 0 {
			w.failGPULater(n, rng.Stream(w.o.Seed, "gpu/"+string(n.ID)))
		}
	}
	for _, win := range f.Maintenance {
		why, last := "maintenance", (*agent).checkpoint
		if win.Failed {
			why, last = "node failed", func(*agent) {}
		}
		w.agenda.push(entry{at: Epoch.Add(win.From), what: func(w *World) { w.leave(win.Nodes, why, last) }})
		w.agenda.push(entry{at: Epoch.Add(win.To), what: func(w *World) { w.comeBack(win.Nodes) }})
	}
	for _, l := range f.Losses {
		w.agenda.push(entry{at: Epoch.Add(l.At), what: func(w *World) {
			if g := w.jobs[l.Job]; g != nil && g.holding() {
				w.lose(g, "it failed", func(*agent) {})
			}
		}})
	}
}

func after(stream *rand.Rand, mean time.Duration) time.Duration {
	return seconds(stream.ExpFloat64() * mean.Seconds())
}

func (w *World) failLater(id cluster.NodeID, stream *rand.Rand) {
	nodes := []cluster.NodeID{id}
	w.agenda.push(entry{at: w.now.Add(after(stream, w.o.Faults.NodeMTBF)), what: func(w *World) {
		if !w.provider.available(id) || !w.lender.available(id) {
			w.failLater(id, stream)
			return
		}
		w.leave(nodes, "node failed", func(*agent) {})
		w.agenda.push(entry{at: w.now.Add(w.o.Faults.Repair), what: func(w *World) {
			w.comeBack(nodes)
			w.failLater(id, stream)
		}})
	}})
}

func (w *World) failGPULater(n cluster.Node, stream *rand.Rand) {
	mean := w.o.Faults.GPUMTBF / time.Duration(n.Capacity.GPUs)
	w.agenda.push(entry{at: w.now.Add(after(stream, mean)), what: func(w *World) {
		w.killOne(n, stream.IntN(n.Capacity.GPUs))
		w.failGPULater(n, stream)
	}})
}

// killOne takes all GPUs from the job on a GPU of a node. GPUs are numbered by job ID, free ones
// last.
func (w *World) killOne(n cluster.Node, index int) {
	for _, g := range w.on(func(id cluster.NodeID) bool { return id == n.ID }) {
		for _, s := range g.placement {
			if s.Node == n.ID {
				index -= s.GPUs
			}
		}
		if index < 0 {
			w.lose(g, fmt.Sprintf("a GPU of %s failed", n.ID), func(*agent) {})
			return
		}
	}
}

func (w *World) on(match func(cluster.NodeID) bool) []*agent {
	var hit []*agent
	for _, g := range w.jobs {
		if slices.ContainsFunc(g.placement, func(s cluster.Share) bool { return match(s.Node) }) {
			hit = append(hit, g)
		}
	}
	slices.SortFunc(hit, func(a, b *agent) int { return strings.Compare(string(a.spec.ID), string(b.spec.ID)) })
	return hit
}

func (w *World) used() map[cluster.NodeID]bool {
	nodes := make(map[cluster.NodeID]bool)
	for _, g := range w.jobs { // a set: order does not matter
		for _, s := range g.placement {
			nodes[s.Node] = true
		}
	}
	return nodes
}

// lose takes a job's GPUs by a failure. last is called first and may save a checkpoint.
func (w *World) lose(g *agent, why string, last func(*agent)) {
	g.settle(w)
	last(g)
	g.lose()
	w.stop(g)
	w.emit(scheduler.Exited{Job: g.spec.ID, Outcome: scheduler.Lost, Detail: why})
}

func (w *World) leave(nodes []cluster.NodeID, why string, last func(*agent)) {
	for _, id := range nodes {
		w.nodes.away[id]++
	}
	for _, g := range w.on(func(id cluster.NodeID) bool { return slices.Contains(nodes, id) }) {
		w.lose(g, why, last)
	}
	w.changed()
}

func (w *World) comeBack(nodes []cluster.NodeID) {
	for _, id := range nodes {
		w.nodes.away[id]--
	}
	w.changed()
}

func (w *World) changed() {
	w.emit(scheduler.NodesChanged{Cluster: w.nodes.present(), Rentals: w.provider.rentals(), Loans: w.lender.loans()})
}

type presence struct {
	full *cluster.Cluster       // with all nodes
	here *cluster.Cluster       // nodes of the last NodesChanged; nil: none was emitted
	away map[cluster.NodeID]int // number of reasons why a node is unavailable
}

// present returns the available nodes. The pointer changes only if the nodes do, so policies can compare
// pointers.
func (p *presence) present() *cluster.Cluster {
	if p.here == nil || !p.same() {
		p.here = p.full.Without(func(id cluster.NodeID) bool { return p.away[id] > 0 })
	}
	return p.here
}

func (p *presence) same() bool {
	left := p.here.Nodes()
	for i := range p.full.Nodes() {
		id := p.full.Nodes()[i].ID
		if p.away[id] > 0 {
			continue
		}
		if len(left) == 0 || left[0].ID != id {
			return false
		}
		left = left[1:]
	}
	return len(left) == 0
}
