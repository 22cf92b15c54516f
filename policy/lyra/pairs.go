package lyra

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// none is where there is no GPU type.
const none = -1

// A pair is a GPU type of the training cluster and one on loan, none where there is none, by
// allocate.Side. Jobs are shared out among the pairs of types, one after another.
type pair [2]int

// A spot is the place of a GPU type among the pairs.
type spot struct {
	pair int
	side allocate.Side
}

// pairUp finds out which types are on loan, all nodes of them, and makes pairs in the order of
// the cluster. Where jobs that may run on loan run nowhere else, types on loan form no pairs
// with training types.
func (r *round) pairUp() {
	l := &r.p.layout
	if l.of != r.s.Cluster {
		r.nodes = make([]host, len(r.s.Cluster.Nodes()))
		r.lay()
		if !slices.Equal(r.pairs, l.pairs) || !slices.EqualFunc(r.types, l.types, sameType) || !slices.Equal(r.lent, l.lent) {
			l.version++
		}
		*l = layout{of: r.s.Cluster, turn: l.turn + 1, version: l.version, types: r.types, lent: r.lent, pairs: r.pairs, spots: r.spots, nodes: r.nodes, spare: l.spare}
	}
	r.lent, r.pairs, r.spots = l.lent, l.pairs, l.spots
	l.spare = append(l.spare[:0], l.nodes...)
	r.nodes = l.spare
}

// sameType reports whether jobs can have the same of two types, but for how much there is.
func sameType(a, b cluster.TypeInfo) bool {
	return a.Type == b.Type && a.PerNode == b.PerNode && a.Share == b.Share
}

// lay is pairUp for nodes that were not seen before.
func (r *round) lay() {
	r.spots = make([]spot, len(r.types))
	own, lent := r.split()
	apart := r.p.o.Loan == Opportunity
	for _, t := range own {
		r.add(pair{t, none})
	}
	for k, t := range lent {
		switch {
		case apart:
			r.add(pair{t, none})
		case k < len(own):
			r.pairs[k][allocate.Loaned] = t
			r.spots[t] = spot{k, allocate.Loaned}
		default:
			r.add(pair{none, t})
		}
	}
}

// add adds a pair.
func (r *round) add(at pair) {
	for side, t := range at {
		if t != none {
			r.spots[t] = spot{len(r.pairs), allocate.Side(side)}
		}
	}
	r.pairs = append(r.pairs, at)
}

// split tells types of which all nodes are on loan from the others.
func (r *round) split() (own, lent []int) {
	r.lent = make([]bool, len(r.types))
	for t := range r.lent {
		r.lent[t] = true
	}
	for n, node := range r.s.Cluster.Nodes() {
		h := &r.nodes[n]
		h.loaned, h.t = node.Tenure == cluster.Loaned, r.typeOf(node.GPUType)
		r.lent[h.t] = r.lent[h.t] && h.loaned
	}
	for t, is := range r.lent {
		if is {
			lent = append(lent, t)
		} else {
			own = append(own, t)
		}
	}
	return own, lent
}

// typeOf returns the place of a GPU type in types; none if it is not there.
func (r *round) typeOf(t cluster.GPUType) int {
	for i := range r.types {
		if r.types[i].Type == t {
			return i
		}
	}
	return none
}

// capacity returns what is free of a pair.
func (r *round) capacity(at pair) allocate.Capacity {
	var c allocate.Capacity
	for side, t := range at {
		c[side].PerGPU = 1
		if t != none {
			c[side] = allocate.Pool{Free: r.free[t], Total: r.types[t].GPUs, PerGPU: float64(r.perGPU(t))}
		}
	}
	return c
}

// perGPU returns how many GPUs of a type do the work of one training GPU. For a type on loan it
// is what the first job says that states it.
func (r *round) perGPU(t int) int {
	if !r.lent[t] {
		return 1
	}
	if r.worth[t] == 0 {
		r.worth[t] = 1
		for _, j := range r.s.Jobs {
			if n := j.Equivalents[r.types[t].Type]; n > 0 {
				r.worth[t] = n
				break
			}
		}
	}
	return r.worth[t]
}
