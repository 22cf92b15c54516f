package submesh

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

func (pl *Placer) placePending() {
	slices.SortFunc(pl.pending, byRank)
	for pl.head < len(pl.pending) {
		p := pl.pending[pl.head]
		pl.head++
		split := p.odd && pl.o.Split
		switch {
		case pl.claims[p.job].state == dropped:
		case p.class == scatter:
			if !pl.placeOnOne(p) && !pl.scatter(p) {
				pl.drop(p.job)
			}
		case p.class == single && (pl.placeOnOne(p) || pl.makeRoom(p)):
		case p.class == whole && (pl.placeOnIdle(p) || !split && pl.makeRoom(p)):
		case split: // waits until all others are placed
			p.class, p.size, p.nodes = scatter, p.size*p.nodes, 1
			pl.pending = append(pl.pending, p)
			slices.SortFunc(pl.pending[pl.head:], byRank)
		default:
			pl.drop(p.job)
		}
	}
	pl.restore()
}

func (pl *Placer) poolAt(p piece) *pool { return &pl.pools[pl.claims[p.job].pool] }

func (pl *Placer) give(job, node, g int32) {
	pl.take(node, g)
	pl.bookHost(job, node, g)
	c := &pl.claims[job]
	c.slots = append(c.slots, slot{node, g})
}

func (pl *Placer) placeOnOne(p piece) bool {
	n := int32(-1)
	if pl.counts {
		n = pl.fitHost(p)
	}
	if n < 0 {
		n = pl.poolAt(p).fit(int(p.size))
	}
	if n < 0 {
		return false
	}
	pl.give(p.job, n, p.size)
	return true
}

func (pl *Placer) placeOnIdle(p piece) bool {
	idle := &pl.poolAt(p).idle[p.size]
	if idle.n < int(p.nodes) {
		return false
	}
	for range p.nodes {
		pl.give(p.job, pl.poolAt(p).nodes[idle.first()], p.size)
	}
	return true
}

func (pl *Placer) scatter(p piece) bool {
	pool, before, worker := pl.poolAt(p), len(pl.claims[p.job].slots), int32(max(1, pl.s.Jobs[p.job].WorkerGPUs))
	for left := p.size; left > 0; {
		n, g := pool.freest(), int32(0)
		if n >= 0 {
			g = min(left, pl.nodes[n].free) / worker * worker
		}
		if g == 0 {
			pl.giveBack(p.job, before)
			return false
		}
		pl.give(p.job, n, g)
		left -= g
	}
	return true
}

func (pl *Placer) giveBack(job int32, but int) {
	c := &pl.claims[job]
	for _, s := range c.slots[but:] {
		pl.take(s.node, -s.gpus)
		pl.bookHost(job, s.node, -s.gpus)
	}
	c.slots = c.slots[:but]
}

func (pl *Placer) drop(job int32) {
	if pl.claims[job].own > 0 {
		pl.stop(job)
		return
	}
	pl.giveBack(job, 0)
	pl.claims[job].state = dropped
	d := &pl.p.Jobs[job]
	*d = policy.Decision{Why: policy.Reason{Kind: policy.Evicted, Config: d.Allocation.Configuration}}
	if pl.s.Jobs[job].Holding() {
		pl.back = append(pl.back, job)
	}
}

func (pl *Placer) restore() {
	slices.Sort(pl.back)
	for _, i := range pl.back {
		j, d, c := pl.s.Jobs[i], &pl.p.Jobs[i], &pl.claims[i]
		refused := *d
		c.pool, c.where = int32(pl.cluster.TypeIndex(j.Allocation.GPUType)), pl.lookUp(j.Placement)
		if c.pool < 0 || j.Allocation.GPUs > refused.Why.Config.GPUs {
			continue
		}
		d.Allocation = j.Allocation
		if !pl.occupy(int(i)) {
			*d = refused
			continue
		}
		c.state, d.Why.Kind, pl.reverted = staying, policy.KeptNoPlace, true
	}
	pl.back = pl.back[:0]
}

type clearing struct {
	node int32
	cost int // sum of weights of the displaced jobs
	gpus int32
}

// makeRoom places a piece in the room of displaced jobs, on the nodes where their weights, then their GPUs,
// are fewest; false if there are too few nodes.
func (pl *Placer) makeRoom(p piece) bool {
	if !pl.listed {
		pl.listTenants()
	}
	pl.open = pl.open[:0]
	for _, n := range pl.poolAt(p).nodes {
		size := pl.nodes[n].size
		if size < p.size || p.class == whole && size != p.size {
			continue
		}
		if c, ok := pl.clear(n, p.size); ok {
			pl.open = append(pl.open, c)
		}
	}
	if len(pl.open) < int(p.nodes) {
		return false
	}
	slices.SortStableFunc(pl.open, func(a, b clearing) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.gpus, b.gpus))
	})
	for _, c := range pl.open[:p.nodes] {
		pl.clear(c.node, p.size)
		for _, job := range pl.victims {
			pl.displace(job)
		}
		pl.give(p.job, c.node, p.size)
	}
	slices.SortFunc(pl.pending[pl.head:], byRank)
	return true
}

func (pl *Placer) listTenants() {
	for n := range pl.tenants {
		pl.tenants[n] = pl.tenants[n][:0]
	}
	for i := range pl.claims {
		if pl.claims[i].state == staying {
			for _, n := range pl.claims[i].where.at {
				pl.tenants[n] = append(pl.tenants[n], int32(i))
			}
		}
	}
	pl.listed = true
}

type tenant struct {
	job, gpus int32
	weight    int
}

// clear returns the cost of freeing g GPUs of node n, and sets pl.victims; false: impossible. It displaces
// only jobs that are placed after the piece: with fewer than g GPUs there, or to be scattered. Among the jobs
// of least weight it takes the smallest one that frees enough, or else the largest, and repeats.
func (pl *Placer) clear(n, g int32) (clearing, bool) {
	movable := pl.movable[:0]
	for _, i := range pl.tenants[n] {
		if pl.claims[i].state != staying {
			continue
		}
		t := tenant{i, pl.gpusOn(i, n), weight(pl.s.Jobs[i], &pl.p.Jobs[i], pl.s.Now)}
		if t.gpus < g || pl.isOdd(i) {
			movable = append(movable, t)
		}
	}
	slices.SortStableFunc(movable, func(a, b tenant) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(b.gpus, a.gpus))
	})
	c := clearing{node: n}
	pl.movable, pl.victims = movable, pl.victims[:0]
	for lack := g - pl.nodes[n].free; lack > 0; {
		if len(movable) == 0 {
			return c, false
		}
		best := 0
		for k := range movable {
			if movable[k].weight == movable[0].weight && movable[k].gpus >= lack {
				best = k
			}
		}
		t := movable[best]
		movable = slices.Delete(movable, best, best+1)
		c.cost, c.gpus, pl.victims = c.cost+t.weight, c.gpus+t.gpus, append(pl.victims, t.job)
		lack -= t.gpus
	}
	return c, true
}

func (pl *Placer) isOdd(i int32) bool {
	c := pl.p.Jobs[i].Allocation.Configuration
	p := &pl.pools[pl.claims[i].pool]
	return pl.o.Split && c.GPUs <= p.most() && !p.regular(c.GPUs)
}

func (pl *Placer) gpusOn(i, n int32) int32 {
	return int32(pl.s.Jobs[i].Placement[slices.Index(pl.claims[i].where.at, n)].GPUs)
}

func (pl *Placer) displace(i int32) {
	c := &pl.claims[i]
	held := pl.s.Jobs[i].Placement
	for k, n := range c.where.at {
		pl.take(n, -int32(held[k].GPUs))
		pl.bookHost(i, n, -int32(held[k].GPUs))
	}
	c.state = moving
	pl.enqueue(int(i))
}

const rounding = 1e-9

func (pl *Placer) bookHost(job, n, g int32) {
	if !pl.counts {
		return
	}
	w, room := pl.wish(job, g), &pl.room[n]
	room.CPUs -= w.CPUs
	room.Memory -= w.Memory
}

func (pl *Placer) wish(job, g int32) cluster.Resources {
	a := &pl.p.Jobs[job].Allocation
	return cluster.Resources{CPUs: a.CPUs * float64(g) / float64(a.GPUs), Memory: a.Memory / int64(a.GPUs) * int64(g)}
}

func (pl *Placer) fitHost(p piece) int32 {
	best, w := int32(-1), pl.wish(p.job, p.size)
	for _, i := range pl.poolAt(p).nodes {
		n, room := &pl.nodes[i], &pl.room[i]
		if n.free < p.size || room.CPUs < w.CPUs-rounding || room.Memory < w.Memory {
			continue
		}
		if best < 0 || pl.tighter(i, best) {
			best = i
		}
	}
	return best
}

func (pl *Placer) tighter(a, b int32) bool {
	x, y := &pl.nodes[a], &pl.nodes[b]
	if idleX, idleY := x.free == x.size, y.free == y.size; idleX != idleY {
		return idleY
	}
	if x.free != y.free {
		return x.free < y.free
	}
	return pl.room[a].CPUs < pl.room[b].CPUs
}
