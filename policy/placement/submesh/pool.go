package submesh

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

type node struct {
	size, free int32 // GPUs
	pool       int32
	local      int32
	rank       int32
}

type pool struct {
	nodes []int32
	sizes []int // distinct GPUs per node, ascending
	count map[int]int
	idle  []set // by size: nodes with all GPUs free
	part  []set // by free GPUs: nodes with some in use
}

func (pl *Placer) adopt(c *cluster.Cluster) {
	pl.cluster, pl.memo = c, nil
	pl.nodes, pl.tenants = make([]node, len(c.Nodes())), make([][]int32, len(c.Nodes()))
	pl.pools = make([]pool, len(c.Types()))
	pl.counts = slices.ContainsFunc(c.Types(), func(t cluster.TypeInfo) bool { return t.Counts() })
	pl.room = nil
	if pl.counts {
		pl.room = make([]cluster.Resources, len(c.Nodes()))
	}
	index := make(map[cluster.GPUType]int)
	for i, t := range c.Types() {
		index[t.Type] = i
		pl.pools[i] = pool{sizes: t.Sizes, count: make(map[int]int), idle: make([]set, t.PerNode+1), part: make([]set, t.PerNode+1)}
	}
	byName := make([]int, len(pl.nodes))
	for i, n := range c.Nodes() {
		k := index[n.GPUType]
		p := &pl.pools[k]
		pl.nodes[i] = node{size: int32(n.Capacity.GPUs), pool: int32(k), local: int32(len(p.nodes))}
		p.nodes = append(p.nodes, int32(i))
		p.count[n.Capacity.GPUs]++
		byName[i] = i
	}
	slices.SortFunc(byName, func(a, b int) int { return cmp.Compare(c.Nodes()[a].ID, c.Nodes()[b].ID) })
	for rank, i := range byName {
		pl.nodes[i].rank = int32(rank)
	}
	for i := range pl.pools {
		p := &pl.pools[i]
		for f := range p.idle {
			p.idle[f].words = make([]uint64, (len(p.nodes)+63)/64)
			p.part[f].words = make([]uint64, (len(p.nodes)+63)/64)
		}
	}
}

func (p *pool) most() int { return len(p.part) - 1 }

func (p *pool) shelve(nodes []node) {
	for f := range p.idle {
		p.idle[f].clear()
		p.part[f].clear()
	}
	for _, i := range p.nodes {
		if s := p.shelf(&nodes[i]); s != nil {
			s.add(nodes[i].local)
		}
	}
}

func (p *pool) shelf(n *node) *set {
	switch n.free {
	case 0:
		return nil
	case n.size:
		return &p.idle[n.size]
	}
	return &p.part[n.free]
}

func (pl *Placer) take(i, g int32) {
	n := &pl.nodes[i]
	p := &pl.pools[n.pool]
	if s := p.shelf(n); s != nil {
		s.remove(n.local)
	}
	n.free -= g
	if s := p.shelf(n); s != nil {
		s.add(n.local)
	}
}

func (p *pool) fit(g int) int32 {
	for f := g; f < len(p.part); f++ {
		if p.part[f].n > 0 {
			return p.nodes[p.part[f].first()]
		}
	}
	for _, size := range p.sizes {
		if size >= g && p.idle[size].n > 0 {
			return p.nodes[p.idle[size].first()]
		}
	}
	return -1
}

func (p *pool) freest() int32 {
	for f := p.most(); f > 0; f-- {
		if p.idle[f].n > 0 {
			return p.nodes[p.idle[f].first()]
		}
		if p.part[f].n > 0 {
			return p.nodes[p.part[f].first()]
		}
	}
	return -1
}

type set struct {
	words []uint64
	n     int
}

func (s *set) add(i int32)    { s.words[i/64] |= 1 << (i % 64); s.n++ }
func (s *set) remove(i int32) { s.words[i/64] &^= 1 << (i % 64); s.n-- }

func (s *set) clear() {
	if s.n > 0 {
		clear(s.words)
		s.n = 0
	}
}

func (s *set) first() int {
	for w, word := range s.words {
		if word != 0 {
			return 64*w + bits.TrailingZeros64(word)
		}
	}
	panic("submesh: first of an empty set")
}

func (pl *Placer) resize(i int) bool {
	stay := pl.stayingSlots(i)
	if stay == nil {
		return false
	}
	c, more := &pl.claims[i], pl.p.Jobs[i].Allocation.GPUs
	for _, s := range stay {
		pl.nodes[s.node].free -= s.gpus
		pl.bookHost(int32(i), s.node, s.gpus)
		more -= int(s.gpus)
	}
	c.slots, c.own = append(c.slots, stay...), len(stay)
	if more > 0 {
		pl.spread(i, more)
	}
	return true
}

// stayingSlots returns the GPUs that a resized job keeps, in whole workers, mostly on its largest shares; nil if
// it must move.
func (pl *Placer) stayingSlots(i int) []slot {
	j, a := pl.s.Jobs[i], &pl.p.Jobs[i].Allocation
	if !resizes(j, a) {
		return nil
	}
	held := slices.Clone(j.Placement)
	slices.SortStableFunc(held, func(x, y cluster.Share) int { return cmp.Compare(y.GPUs, x.GPUs) })
	var stay []slot
	left, worker := min(a.GPUs, j.Allocation.GPUs), max(1, j.WorkerGPUs)
	for _, share := range held {
		n, ok := pl.cluster.Index(share.Node)
		g := min(left, share.GPUs) / worker * worker
		if !ok || int(pl.nodes[n].free) < g {
			return nil
		}
		if left -= g; g > 0 {
			stay = append(stay, slot{int32(n), int32(g)})
		}
	}
	if left > 0 {
		return nil
	}
	return stay
}

func resizes(j *policy.Job, a *cluster.Allocation) bool {
	return j.Resizes && j.Phase == job.Running && len(j.Placement) > 0 && j.Allocation.GPUType == a.GPUType && !j.Allocation.Mixed() && !a.Mixed()
}

func (pl *Placer) stop(i int32) {
	pl.giveBack(i, pl.claims[i].own)
	d, j := &pl.p.Jobs[i], pl.s.Jobs[i]
	why := policy.Reason{Kind: policy.KeptNoPlace, Config: d.Allocation.Configuration}
	*d, pl.reverted = policy.Decision{Allocation: j.Allocation, Why: why}, true
}
