package policytest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

type market struct {
	away     map[cluster.NodeID]bool
	starting map[cluster.Group]int
	refused  map[cluster.Group]bool
}

func drawWorld(t *rapid.T) *World {
	switch rapid.IntRange(1, 4).Draw(t, "kind of world") {
	case 4:
		return newRentingWorld(t)
	case 3:
		return newLendingWorld(t, false)
	}
	return NewWorld(t)
}

func newRentingWorld(t *rapid.T) *World {
	nodes := slices.Clone(Clusters().Draw(t, "cluster").Nodes())
	rented := rapid.SampledFrom(nodes).Draw(t, "a rented node").GPUType
	m := market{away: make(map[cluster.NodeID]bool)}
	for i := range nodes {
		if n := &nodes[i]; n.GPUType == rented {
			n.Tenure, n.Group = cluster.Rented, "spot"
			m.away[n.ID] = rapid.Bool().Draw(t, "is not there")
		}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatalf("generate a cluster: %v", err)
	}
	return newWorld(t, c, m)
}

func (w *World) rentals() []cluster.Rental {
	var all []cluster.Rental
	for _, o := range w.all.Offers() {
		r := cluster.Rental{Offer: o, Starting: w.market.starting[o.Group], Refused: w.market.refused[o.Group]}
		r.Ready = w.there(o.Group)
		all = append(all, r)
	}
	return all
}

func (w *World) rent(t *rapid.T, p *policy.Plan) {
	used := w.used()
	w.market.starting, w.market.refused = make(map[cluster.Group]int), make(map[cluster.Group]bool)
	for _, o := range w.all.Offers() {
		if want, ok := p.Capacity[o.Group]; ok {
			w.trade(t, o.Group, want-w.there(o.Group), used)
		}
	}
	w.failNodes(w.down)
}

func (w *World) there(g cluster.Group) int {
	nodes := 0
	for _, n := range w.all.Nodes() {
		if n.Group == g && !w.market.away[n.ID] {
			nodes++
		}
	}
	return nodes
}

func (w *World) used() map[cluster.NodeID]bool {
	used := make(map[cluster.NodeID]bool)
	for _, j := range w.jobs {
		for _, share := range j.Placement {
			used[share.Node] = true
		}
	}
	return used
}

func (w *World) trade(t *rapid.T, g cluster.Group, more int, used map[cluster.NodeID]bool) {
	for _, n := range w.all.Nodes() {
		switch away := w.market.away[n.ID]; {
		case n.Group != g:
		case more > 0 && away:
			more--
			if w.market.away[n.ID] = oneIn(t, 3, "comes later"); w.market.away[n.ID] {
				w.market.starting[g]++
			}
		case more < 0 && !away && !used[n.ID]:
			more++
			w.market.away[n.ID] = true
		}
	}
	if w.market.starting[g] > 0 && oneIn(t, 3, "is refused") {
		w.market.starting[g], w.market.refused[g] = 0, true
	}
}
