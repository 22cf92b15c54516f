package pack

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/cluster"
)

// passes bounds how often mend looks at each node that lacks something.
const passes = 4

// A mending is the memory of mend.
type mending struct {
	pending []int   // jobs that were packed
	movable [][]int // by node: jobs on it alone that may be exchanged
	lacking []int   // nodes
}

// mend exchanges jobs between nodes whose jobs are named more than there is and
// others, and moves some to free GPUs, as long as that makes what is lacking
// less. Only the given jobs move. It reports whether any did.
func (pl *Placer) mend(l *layout, jobs []int) bool {
	pl.listMovable(l, jobs)
	m, moved := &pl.mending, false
	for range passes {
		before := len(m.lacking)
		for _, n := range m.lacking {
			for pl.lack(n, cluster.Resources{}) > 0 && pl.exchange(l, n) {
				moved = true
			}
		}
		if pl.listLacking(); len(m.lacking) == 0 || len(m.lacking) >= before {
			break
		}
	}
	return moved
}

func (pl *Placer) listMovable(l *layout, jobs []int) {
	m := &pl.mending
	for len(m.movable) < len(pl.s.Cluster.Nodes()) {
		m.movable = append(m.movable, nil)
	}
	pl.listLacking()
	if len(m.lacking) == 0 {
		return
	}
	for n := range m.movable {
		m.movable[n] = m.movable[n][:0]
	}
	for _, i := range jobs {
		if len(l.slots[i]) == 1 {
			n := l.slots[i][0].Node
			m.movable[n] = append(m.movable[n], i)
		}
	}
}

// listLacking lists the nodes that lack something, those that lack most first.
func (pl *Placer) listLacking() {
	m := &pl.mending
	m.lacking = m.lacking[:0]
	for n := range pl.s.Cluster.Nodes() {
		if pl.lack(n, cluster.Resources{}) > 0 {
			m.lacking = append(m.lacking, n)
		}
	}
	slices.SortStableFunc(m.lacking, func(a, b int) int {
		return cmp.Compare(pl.lack(b, cluster.Resources{}), pl.lack(a, cluster.Resources{}))
	})
}

// lack returns what node n lacks, if so much more is taken of it: the parts of
// its CPUs and of its memory that there would have to be more, together.
func (pl *Placer) lack(n int, more cluster.Resources) (parts float64) {
	c, f := &pl.s.Cluster.Nodes()[n].Capacity, pl.wish.Free(n)
	if c.CPUs == 0 {
		return 0
	}
	if lack := more.CPUs - f.CPUs; lack > 1e-9*c.CPUs {
		parts += lack / c.CPUs
	}
	if lack := more.Memory - f.Memory; lack > 0 {
		parts += float64(lack) / float64(c.Memory)
	}
	return parts
}

// An offer is an exchange of jobs between two nodes.
type offer struct {
	node     int // the other one
	out, in  int // jobs; in is -1 where free GPUs are taken
	decrease float64
}

// exchange makes the exchange of a job of node n that leaves least lacking, if
// there is one that helps.
func (pl *Placer) exchange(l *layout, n int) bool {
	best := offer{decrease: 1e-9}
	for other := range pl.s.Cluster.Nodes() {
		if other != n && pl.s.Cluster.Nodes()[other].GPUType == pl.s.Cluster.Nodes()[n].GPUType {
			pl.consider(&best, n, other)
		}
	}
	if best.decrease <= 1e-9 {
		return false
	}
	pl.lift(l, best.out)
	if best.in >= 0 {
		pl.lift(l, best.in)
		pl.drop(l, best.in, n)
	}
	pl.drop(l, best.out, best.node)
	return true
}

// consider looks for better exchanges with one node.
func (pl *Placer) consider(best *offer, n, other int) {
	was := pl.lack(n, cluster.Resources{}) + pl.lack(other, cluster.Resources{})
	free := pl.wish.Free(other).GPUs
	for _, out := range pl.mending.movable[n] {
		gpus, _ := pl.gpus(out)
		if gpus <= free {
			pl.weigh(best, offer{node: other, out: out, in: -1}, n, was)
		}
		for _, in := range pl.mending.movable[other] {
			if g, _ := pl.gpus(in); g == gpus && pl.demand(in) != pl.demand(out) {
				pl.weigh(best, offer{node: other, out: out, in: in}, n, was)
			}
		}
	}
}

// weigh keeps an offer if it is better than the best.
func (pl *Placer) weigh(best *offer, o offer, n int, was float64) {
	gpus, _ := pl.gpus(o.out)
	more, least := times(pl.demand(o.out), gpus, 1), times(pl.settler.Jobs[o.out].Cells[0].Per(), gpus, 1)
	if o.in >= 0 {
		more = plus(more, times(pl.demand(o.in), gpus, -1))
		least = plus(least, times(pl.settler.Jobs[o.in].Cells[0].Per(), gpus, -1))
	}
	o.decrease = was - pl.lack(o.node, more) - pl.lack(n, times(more, 1, -1))
	if o.decrease > best.decrease && pl.roomFor(o.node, least) && pl.roomFor(n, times(least, 1, -1)) {
		*best = o
	}
}

// roomFor reports whether node n has so much more for first cells.
func (pl *Placer) roomFor(n int, more cluster.Resources) bool {
	c, f := &pl.s.Cluster.Nodes()[n].Capacity, pl.least.Free(n)
	return c.CPUs == 0 || more.CPUs <= f.CPUs+1e-9*c.CPUs && more.Memory <= f.Memory
}

func times(r cluster.Resources, gpus, sign int) cluster.Resources {
	return cluster.Resources{CPUs: float64(sign*gpus) * r.CPUs, Memory: int64(sign*gpus) * r.Memory}
}

func plus(a, b cluster.Resources) cluster.Resources {
	return cluster.Resources{CPUs: a.CPUs + b.CPUs, Memory: a.Memory + b.Memory}
}

// lift takes job i off its node.
func (pl *Placer) lift(l *layout, i int) {
	pl.wish.GiveAll(l.slots[i], pl.demand(i))
	pl.least.GiveAll(l.slots[i], pl.settler.Jobs[i].Cells[0].Per())
	on := &pl.mending.movable[l.slots[i][0].Node]
	at := slices.Index(*on, i)
	*on = slices.Delete(*on, at, at+1)
}

// drop puts job i, which was lifted, on a node.
func (pl *Placer) drop(l *layout, i, node int) {
	l.slots[i][0].Node = node
	pl.wish.TakeAll(l.slots[i], pl.demand(i))
	pl.least.TakeAll(l.slots[i], pl.settler.Jobs[i].Cells[0].Per())
	pl.mending.movable[node] = append(pl.mending.movable[node], i)
}
