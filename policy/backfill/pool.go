package backfill

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// A pool is the virtually free GPUs of a type. A gang no larger than a node gets one node; a larger one gets whole
// nodes, and one more node for the rest. Twins do not move once they have started, as under EASY.
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

// find returns where a gang fits: whole nodes, and for the rest the node with the fewest sufficient GPUs. ok is false
// if it fits nowhere.
func (p *pool) find(gpus int) (at []share, ok bool) {
	if gpus > p.total {
		return nil, false
	}
	whole, rest := gpus/p.perNode, gpus%p.perNode
	best := -1
	for node, free := range p.free {
		switch {
		case whole > 0 && free == p.perNode:
			at = append(at, share{node, free})
			whole--
		case rest > 0 && free >= rest && (best < 0 || free < p.free[best]):
			best = node
		}
	}
	if rest > 0 && best >= 0 {
		at = append(at, share{best, rest})
	}
	return at, whole == 0 && (rest == 0 || best >= 0)
}

func (p *pool) fits(gpus int) bool {
	_, ok := p.find(gpus)
	return ok
}

func (p *pool) add(all []share, sign int) {
	for _, s := range all {
		p.free[s.node] += sign * s.gpus
		p.total += sign * s.gpus
	}
}

func (p *pool) both(other *pool) *pool {
	c := pool{perNode: p.perNode, free: make([]int, len(p.free))}
	for node := range p.free {
		c.free[node] = max(0, min(p.free[node], other.free[node]))
		c.total += c.free[node]
	}
	return &c
}

func (p *pool) clone() pool {
	c := *p
	c.free = slices.Clone(p.free)
	return c
}
