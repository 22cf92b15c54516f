package submesh

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

// A piece is a part of an allocation that is placed at once: whole nodes of one size, or some GPUs of one
// node.
type piece struct {
	job   int32
	class class
	size  int32 // GPUs of each node
	nodes int32
	odd   bool // the allocation is no submesh shape
}

type class uint8

const (
	whole   class = iota
	single        // some GPUs of one node
	scatter       // on one node if possible, else on several
)

func byRank(a, b piece) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.nodes*b.size, a.nodes*a.size), cmp.Compare(a.job, b.job))
}

// enqueue queues the pieces of job i; one piece of class scatter if a worker would be cut.
func (pl *Placer) enqueue(i int) {
	from, worker := len(pl.pending), int32(max(1, pl.s.Jobs[i].WorkerGPUs))
	pl.cut(i)
	if slices.ContainsFunc(pl.pending[from:], func(p piece) bool { return p.size%worker != 0 }) {
		pl.pending = pl.pending[:from]
		pl.spread(i, pl.p.Jobs[i].Allocation.GPUs)
	}
}

func (pl *Placer) spread(i, size int) {
	pl.pending = append(pl.pending, piece{job: int32(i), class: scatter, size: int32(size), nodes: 1, odd: true})
}

func (pl *Placer) cut(i int) {
	c := pl.p.Jobs[i].Allocation.Configuration
	p := &pl.pools[pl.claims[i].pool]
	add := func(k class, size, nodes int, odd bool) {
		if odd && k == single && pl.o.Split {
			k = scatter
		}
		pl.pending = append(pl.pending, piece{job: int32(i), class: k, size: int32(size), nodes: int32(nodes), odd: odd})
	}
	if c.Nodes > 1 {
		if counts := p.exactly(c.Nodes, c.GPUs, len(p.sizes)-1); counts != nil {
			for k, n := range counts {
				if n > 0 {
					add(whole, p.sizes[k], n, false)
				}
			}
			return
		}
	}
	if c.GPUs <= p.most() {
		add(single, c.GPUs, 1, !p.regular(c.GPUs))
		return
	}
	left := c.GPUs
	for _, size := range slices.Backward(p.sizes) {
		if n := min(left/size, p.count[size]); n > 0 {
			add(whole, size, n, true)
			left -= n * size
		}
	}
	if left > 0 {
		add(single, left, 1, true)
	}
}

func (p *pool) regular(g int) bool {
	return bits.OnesCount(uint(g)) == 1 || slices.Contains(p.sizes, g)
}

func (p *pool) exactly(n, g, last int) []int {
	if last == 0 {
		if n*p.sizes[0] != g || n > p.count[p.sizes[0]] {
			return nil
		}
		return []int{n}
	}
	size := p.sizes[last]
	if g > n*size {
		return nil
	}
	for k := min(n, g/size, p.count[size]); k >= 0; k-- {
		if n == k && g == k*size {
			return append(make([]int, last), k)
		}
		if counts := p.exactly(n-k, g-k*size, last-1); n > k && counts != nil {
			return append(counts, k)
		}
	}
	return nil
}

func (pl *Placer) name(slots []slot, a cluster.Allocation) (cluster.Placement, []int32) {
	slices.SortFunc(slots, func(x, y slot) int { return cmp.Compare(pl.nodes[x.node].rank, pl.nodes[y.node].rank) })
	p, at := make(cluster.Placement, 0, len(slots)), make([]int32, 0, len(slots))
	for _, s := range slots {
		if k := len(at) - 1; k >= 0 && at[k] == s.node {
			p[k].GPUs += int(s.gpus)
			continue
		}
		p = append(p, cluster.Share{Node: pl.cluster.Nodes()[s.node].ID, Resources: cluster.Resources{GPUs: int(s.gpus)}})
		at = append(at, s.node)
	}
	return portions(p, a), at
}

func portions(p cluster.Placement, a cluster.Allocation) cluster.Placement {
	q := slices.Clone(p)
	rest := a.Memory
	for k := range q {
		q[k].CPUs = a.CPUs * float64(q[k].GPUs) / float64(a.GPUs)
		q[k].Memory = a.Memory / int64(a.GPUs) * int64(q[k].GPUs)
		rest -= q[k].Memory
	}
	q[0].Memory += rest
	return q
}
