package backfill

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// A pool is the virtually free GPUs of a type. Twins do not move once they have started, as under EASY.
type pool struct {
	perNode int
	free    []int // by node
	total   int
}

func newPool(gpus, nodes, perNode int) pool {
	p := pool{perNode: max(1, perNode)}
	for range nodes {
		n := min(p.perNode, gpus)
		gpus -= n
		p.free, p.total = append(p.free, n), p.total+n
	}
	return p
}

func pools(types []cluster.TypeInfo) []pool {
	all := make([]pool, len(types))
	for k := range types {
		all[k] = newPool(types[k].GPUs, types[k].Nodes, types[k].PerNode)
	}
	return all
}

type share struct{ node, gpus int }

func (p *pool) add(all []share, sign int) {
	for _, s := range all {
		p.free[s.node] += sign * s.gpus
		p.total += sign * s.gpus
	}
}

// Placement. Nodes are chosen as by the placer submesh next to jobs that do not move: first whole nodes, then parts of
// nodes from large to small. An odd gang, for instance of 6 GPUs on nodes of 4, comes last with its rest. The rest
// goes to one node, or if none has room to the fewest nodes.

type piece struct {
	gang  int
	class class
	gpus  int
	odd   bool
}

// A class orders pieces.
type class int

const (
	whole   class = iota // whole nodes
	single               // a part of a node, of a power of two
	scatter              // on one node if possible
)

func byRank(a, b piece) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.gpus, a.gpus), cmp.Compare(a.gang, b.gang))
}

func (p *pool) pieces(gang, gpus int) []piece {
	rest := gpus % p.perNode
	switch {
	case gpus <= p.perNode && (bits.OnesCount(uint(gpus)) == 1 || gpus == p.perNode):
		return []piece{{gang, single, gpus, false}}
	case gpus < p.perNode:
		return []piece{{gang, scatter, gpus, true}}
	case rest == 0:
		return []piece{{gang, whole, gpus, false}}
	}
	return []piece{{gang, whole, gpus - rest, true}, {gang, scatter, rest, true}}
}

func (p *pool) place(gangs []int) [][]share {
	at, dropped := make([][]share, len(gangs)), make([]bool, len(gangs))
	var queue []piece
	for i, gpus := range gangs {
		queue = append(queue, p.pieces(i, gpus)...)
	}
	slices.SortFunc(queue, byRank)
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if dropped[next.gang] {
			continue
		}
		shares, ok := p.find(next)
		p.add(shares, -1)
		at[next.gang] = append(at[next.gang], shares...)
		switch {
		case ok:
		case next.odd && next.class == whole:
			next.class = scatter
			queue = append(queue, next)
			slices.SortFunc(queue, byRank)
		default:
			p.add(at[next.gang], 1)
			at[next.gang], dropped[next.gang] = nil, true
		}
	}
	return at
}

func (p *pool) find(next piece) ([]share, bool) {
	if next.class == whole {
		return p.idle(next.gpus)
	}
	if node := p.tightest(next.gpus); node >= 0 {
		return []share{{node, next.gpus}}, true
	}
	if next.class == scatter && next.gpus <= p.total {
		return p.freest(next.gpus), true
	}
	return nil, false
}

func (p *pool) idle(gpus int) (at []share, ok bool) {
	for node, free := range p.free {
		if gpus == 0 {
			break
		}
		if free == p.perNode {
			at, gpus = append(at, share{node, free}), gpus-free
		}
	}
	if gpus > 0 {
		return nil, false
	}
	return at, true
}

func (p *pool) tightest(gpus int) int {
	best := -1
	for node, free := range p.free {
		if free >= gpus && (best < 0 || free < p.free[best]) {
			best = node
		}
	}
	return best
}

func (p *pool) freest(gpus int) (at []share) {
	order := make([]int, len(p.free))
	for node := range order {
		order[node] = node
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.free[b], p.free[a]) })
	for _, node := range order {
		if n := min(gpus, p.free[node]); n > 0 {
			at, gpus = append(at, share{node, n}), gpus-n
		}
	}
	return at
}

func (p *pool) clone() pool {
	c := *p
	c.free = slices.Clone(p.free)
	return c
}
