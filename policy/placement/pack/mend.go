package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy/placement"
)

const (
	passes   = 4  // over the nodes that lack something
	partners = 24 // nodes compared for an exchange
	weighed  = 200_000
)

type mending struct {
	pending []int
	movable [][]int // by node: jobs that may be exchanged
	lacking []int   // most first
	spare   []int   // most free first
	rate    float64 // value of all CPUs or all memory of one node
	left    int
}

func (pl *Placer) mend(l *layout, jobs []int) bool {
	pl.listMovable(l, jobs)
	m, moved := &pl.mending, false
	m.left = weighed
	for range passes {
		before := len(m.lacking)
		pl.listSpare()
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

func (pl *Placer) listSpare() {
	m := &pl.mending
	m.spare = m.spare[:0]
	for n := range pl.s.Cluster.Nodes() {
		if pl.s.Cluster.Nodes()[n].Capacity.CPUs > 0 && pl.lack(n, cluster.Resources{}) == 0 {
			m.spare = append(m.spare, n)
		}
	}
	slices.SortStableFunc(m.spare, func(a, b int) int { return cmp.Compare(pl.spare(b), pl.spare(a)) })
}

func (pl *Placer) spare(n int) float64 {
	c, f := &pl.s.Cluster.Nodes()[n].Capacity, pl.wish.Free(n)
	return f.CPUs/c.CPUs + float64(f.Memory)/float64(c.Memory)
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
		for _, s := range l.slots[i] {
			m.movable[s.Node] = append(m.movable[s.Node], i)
		}
	}
	pl.rate()
}

// rate computes the value of a node's CPUs or memory: what wishes add to first cells, divided by what they
// take.
func (pl *Placer) rate() {
	value, parts := 0.0, 0.0
	for _, i := range pl.order {
		j := &pl.settler.Jobs[i]
		if j.Wish == 0 {
			continue
		}
		gpus, t := pl.gpus(i)
		info, _ := pl.s.Cluster.Type(t)
		first, named := &j.Cells[0], &j.Cells[j.Wish]
		value += named.Value - first.Value
		parts += float64(gpus*info.Nodes) * ((named.CPUs-first.CPUs)/info.CPUs + float64(named.Memory-first.Memory)/float64(info.Memory))
	}
	pl.mending.rate = 0
	if parts > 0 {
		pl.mending.rate = value / parts
	}
}

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

type offer struct {
	home     int
	node     int
	gpus     int
	out, in  int     // jobs that leave and enter home; in is -1 if out moves to free GPUs
	decrease float64 // in the lack of both nodes, net of the cost of splits
}

func (pl *Placer) exchange(l *layout, n int) bool {
	best, looked := offer{home: n, decrease: 1e-9}, 0
	all := pl.lack(n, cluster.Resources{}) - 1e-9
	for _, other := range pl.mending.spare {
		if looked == partners || best.decrease >= all || pl.mending.left < 0 {
			break
		}
		if other != n && pl.s.Cluster.Nodes()[other].GPUType == pl.s.Cluster.Nodes()[n].GPUType {
			pl.consider(l, &best, n, other)
			looked++
		}
	}
	if best.decrease <= 1e-9 {
		return false
	}
	pl.shift(l, &best)
	return true
}

func (pl *Placer) consider(l *layout, best *offer, n, other int) {
	was := pl.lack(n, cluster.Resources{}) + pl.lack(other, cluster.Resources{})
	free := pl.wish.Free(other).GPUs
	for _, out := range pl.mending.movable[n] {
		gpus, worker := on(l.slots[out], n), pl.worker(out)
		if g := whole(min(gpus, free), worker); g > 0 {
			pl.weigh(l, best, offer{home: n, node: other, gpus: g, out: out, in: -1}, was)
		}
		for _, in := range pl.mending.movable[other] {
			g := whole(min(gpus, on(l.slots[in], other)), worker*pl.worker(in)/gcd(worker, pl.worker(in)))
			if g > 0 && out != in && pl.demand(in) != pl.demand(out) {
				pl.weigh(l, best, offer{home: n, node: other, gpus: g, out: out, in: in}, was)
			}
		}
	}
}

func whole(gpus, worker int) int { return gpus - gpus%worker }

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func on(slots []placement.Slot, node int) int {
	for _, s := range slots {
		if s.Node == node {
			return s.GPUs
		}
	}
	return 0
}

func splits(slots []placement.Slot, from, to, gpus int) float64 {
	after := len(slots)
	if on(slots, from) == gpus {
		after--
	}
	if on(slots, to) == 0 {
		after++
	}
	switch {
	case len(slots) == 1 && after > 1:
		return 1
	case len(slots) > 1 && after == 1:
		return -1
	}
	return 0
}

func (pl *Placer) weigh(l *layout, best *offer, o offer, was float64) {
	pl.mending.left--
	more := times(pl.demand(o.out), o.gpus, 1)
	if o.in >= 0 {
		more = plus(more, times(pl.demand(o.in), o.gpus, -1))
	}
	o.decrease = was - pl.lack(o.node, more) - pl.lack(o.home, times(more, 1, -1))
	if o.decrease <= best.decrease {
		return
	}
	o.decrease -= pl.cost(o.out, splits(l.slots[o.out], o.home, o.node, o.gpus))
	if o.in >= 0 {
		o.decrease -= pl.cost(o.in, splits(l.slots[o.in], o.node, o.home, o.gpus))
	}
	if o.decrease > best.decrease && pl.roomForBoth(&o) {
		*best = o
	}
}

func (pl *Placer) roomForBoth(o *offer) bool {
	least := times(pl.modest(o.out), o.gpus, 1)
	if o.in >= 0 {
		least = plus(least, times(pl.modest(o.in), o.gpus, -1))
	}
	return pl.roomFor(o.node, least) && pl.roomFor(o.home, times(least, 1, -1))
}

// cost returns the cost of a split (s > 0), or the gain of a reunion, in parts of a node. It is infinite if a
// replica of several GPUs might be cut.
func (pl *Placer) cost(i int, s float64) float64 {
	if s == 0 {
		return 0
	}
	if _, t := pl.gpus(i); s > 0 && pl.s.Jobs[i].ReplicaGPUs(t) > 1 {
		return math.Inf(1)
	}
	j := &pl.settler.Jobs[i]
	return s * pl.o.Penalty * j.Cells[j.Wish].Value / pl.mending.rate
}

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

func (pl *Placer) shift(l *layout, o *offer) {
	pl.lift(l, o.out, o.home, o.gpus)
	if o.in >= 0 {
		pl.lift(l, o.in, o.node, o.gpus)
		pl.drop(l, o.in, o.home, o.gpus)
	}
	pl.drop(l, o.out, o.node, o.gpus)
}

func (pl *Placer) lift(l *layout, i, node, gpus int) {
	slot := []placement.Slot{{Node: node, GPUs: gpus}}
	pl.wish.GiveAll(slot, pl.demand(i))
	pl.least.GiveAll(slot, pl.modest(i))
	at := slices.IndexFunc(l.slots[i], func(s placement.Slot) bool { return s.Node == node })
	if l.slots[i][at].GPUs -= gpus; l.slots[i][at].GPUs > 0 {
		return
	}
	l.slots[i] = slices.Delete(l.slots[i], at, at+1)
	there := &pl.mending.movable[node]
	at = slices.Index(*there, i)
	*there = slices.Delete(*there, at, at+1)
}

func (pl *Placer) drop(l *layout, i, node, gpus int) {
	slot := placement.Slot{Node: node, GPUs: gpus}
	pl.wish.TakeAll([]placement.Slot{slot}, pl.demand(i))
	pl.least.TakeAll([]placement.Slot{slot}, pl.modest(i))
	at := slices.IndexFunc(l.slots[i], func(s placement.Slot) bool { return s.Node == node })
	if at >= 0 {
		l.slots[i][at].GPUs += gpus
		return
	}
	l.slots[i] = append(l.slots[i], slot)
	pl.mending.movable[node] = append(pl.mending.movable[node], i)
}
