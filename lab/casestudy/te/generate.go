package te

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/oxgang/oxgang/internal/rng"
)

// Generate returns a random network of 2 to 5000 nodes; any other number is an error. Equal arguments give equal
// networks.
//
//   - Nodes are random points in a square.
//   - The edges of a minimum spanning tree connect all nodes. The shortest of the other edges are added, half as many
//     as there are nodes. Each edge is two links, one in each direction.
//   - The capacity of a link is 1,000 to 10,000. It grows with the number of shortest paths between nodes that use the
//     link.
func Generate(nodes int, seed uint64) (*Topology, error) {
	if nodes < 2 || nodes > 5000 {
		return nil, fmt.Errorf("%d nodes, want 2 to 5000", nodes)
	}
	r := rng.Stream(seed, "te/topology")
	x, y := make([]float64, nodes), make([]float64, nodes)
	t := &Topology{Name: fmt.Sprintf("generated-%d", nodes)}
	for i := range nodes {
		x[i], y[i] = r.Float64(), r.Float64()
		t.Nodes = append(t.Nodes, strconv.Itoa(i))
	}
	for _, e := range shortEdges(x, y) {
		t.Links = append(t.Links, Link{e.a, e.b, 1000}, Link{e.b, e.a, 1000})
	}
	t.size()
	return t, nil
}

type edge struct {
	a, b   int
	length float64
}

func shortEdges(x, y []float64) []edge {
	var all []edge
	for a := range x {
		for b := a + 1; b < len(x); b++ {
			all = append(all, edge{a, b, math.Hypot(x[a]-x[b], y[a]-y[b])})
		}
	}
	slices.SortFunc(all, func(e, f edge) int {
		return cmp.Or(cmp.Compare(e.length, f.length), e.a-f.a, e.b-f.b)
	})
	part := make([]int, len(x)) // component so far
	for i := range part {
		part[i] = i
	}
	root := func(v int) int {
		for part[v] != v {
			v = part[v]
		}
		return v
	}
	extra := len(x) / 2
	return slices.DeleteFunc(all, func(e edge) bool {
		a, b := root(e.a), root(e.b)
		part[a] = b
		if a == b {
			extra--
		}
		return a == b && extra < 0
	})
}

func (t *Topology) size() {
	var all []Demand
	for s := range t.Nodes {
		for e := range t.Nodes {
			if s != e {
				all = append(all, Demand{s, e, 1})
			}
		}
	}
	crossed := make([]int, len(t.Links))
	for _, e := range EdgeDisjoint(t, all, 1).Links {
		crossed[e]++
	}
	most := slices.Max(crossed)
	for i := range t.Links {
		l := &t.Links[i]
		l.Capacity = 1000 * math.Ceil(10*float64(crossed[i]+1)/float64(most+1))
	}
}
