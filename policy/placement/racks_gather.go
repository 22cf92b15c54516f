package placement

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

type board struct {
	*levels
	s       *policy.Snapshot
	p       *policy.Plan
	on      [][]int32 // by node: its jobs
	movable []bool
	changed []bool // by job: not on the nodes that the other placer chose
}

func newBoard(l *levels, s *policy.Snapshot, p *policy.Plan, given []bool) *board {
	b := &board{levels: l, s: s, p: p, on: make([][]int32, len(l.cluster.Nodes())), movable: make([]bool, len(p.Jobs)), changed: make([]bool, len(p.Jobs))}
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		b.movable[i] = movable(j, d, given[i])
		for k := range d.Placement {
			at := b.at(&d.Placement[k])
			b.on[at] = append(b.on[at], int32(i))
		}
	}
	return b
}

func (b *board) gather(gangs []int32) {
	for _, g := range gangs {
		if b.moves(g) {
			b.together(g)
		}
	}
	b.write()
}

func (b *board) together(g int32) {
	for _, l := range b.all {
		if !b.apart(l, b.p.Jobs[g].Placement) {
			return
		}
		if best := b.cheapest(l, g); len(best) > 0 {
			for _, x := range best {
				b.swap(x.out, x.in)
			}
			return
		}
	}
}

func (b *board) at(s *cluster.Share) int32 {
	at, _ := b.cluster.Index(s.Node)
	return int32(at)
}

func (b *board) moves(i int32) bool { return b.changed[i] || starts(b.s.Jobs[i], &b.p.Jobs[i]) }

type exchange struct{ out, in int32 }

// cheapest returns the exchanges that bring a gang into one group at the least cost, then with the fewest idle nodes
// left there; none if the cost exceeds the gang's GPUs.
func (b *board) cheapest(l *level, g int32) (best []exchange) {
	gang := &b.p.Jobs[g]
	least, spare := gang.Placement.GPUs(), math.MaxInt
	for k := range l.nodes {
		all, ok := b.into(l, g, int32(k))
		if !ok {
			continue
		}
		cost, idle := b.cost(all), b.idle(l.nodes[k], gang.Allocation.GPUType)
		if cost < least || cost == least && idle < spare {
			best, least, spare = all, cost, idle
		}
	}
	return best
}

func (b *board) idle(nodes []int32, t cluster.GPUType) (n int) {
	for _, at := range nodes {
		if len(b.on[at]) == 0 && b.cluster.Nodes()[at].GPUType == t {
			n++
		}
	}
	return n
}

func (b *board) into(l *level, g, group int32) (all []exchange, ok bool) {
	open := b.open(g, l.nodes[group])
	for _, share := range b.p.Jobs[g].Placement {
		out := b.at(&share)
		if l.of[out] == group {
			continue
		}
		k := slices.IndexFunc(open, func(in int32) bool { return b.alike(out, in) })
		if k < 0 || !b.yields(g, out) {
			return nil, false
		}
		all = append(all, exchange{out, open[k]})
		open = slices.Delete(open, k, k+1)
	}
	return all, true
}

func (b *board) open(g int32, of []int32) (nodes []int32) {
	for _, n := range of {
		if !slices.Contains(b.on[n], g) && b.yields(g, n) {
			nodes = append(nodes, n)
		}
	}
	slices.SortStableFunc(nodes, func(x, y int32) int { return cmp.Compare(b.running(x), b.running(y)) })
	return nodes
}

func (b *board) yields(g, node int32) bool {
	return !slices.ContainsFunc(b.on[node], func(i int32) bool { return i != g && !b.givesWay(i, g) })
}

// givesWay reports whether a job may move for a gang: it is on fewer nodes, or starts and has no rack to
// lose.
func (b *board) givesWay(i, g int32) bool {
	if !b.movable[i] {
		return false
	}
	mine := b.p.Jobs[i].Placement
	return len(mine) < len(b.p.Jobs[g].Placement) || b.moves(i) && b.apart(b.all[len(b.all)-1], mine)
}

func (b *board) running(node int32) (gpus int) {
	for _, i := range b.on[node] {
		if !b.moves(i) {
			k := slices.IndexFunc(b.p.Jobs[i].Placement, func(s cluster.Share) bool { return b.at(&s) == node })
			gpus += b.p.Jobs[i].Placement[k].GPUs
		}
	}
	return gpus
}

func (b *board) cost(all []exchange) (gpus int) {
	var once []int32
	for _, x := range all {
		for _, i := range slices.Concat(b.on[x.out], b.on[x.in]) {
			if !b.moves(i) && !slices.Contains(once, i) {
				once = append(once, i)
				gpus += b.p.Jobs[i].Placement.GPUs()
			}
		}
	}
	return gpus
}

func (b *board) alike(x, y int32) bool {
	m, n := &b.cluster.Nodes()[x], &b.cluster.Nodes()[y]
	return m.GPUType == n.GPUType && m.GPUMemory == n.GPUMemory && m.Capacity == n.Capacity && m.Group == n.Group && m.Tenure == n.Tenure
}

func (b *board) swap(x, y int32) {
	for _, i := range b.on[x] {
		b.rename(i, x, y)
	}
	for _, i := range b.on[y] {
		if !slices.Contains(b.on[x], i) {
			b.rename(i, x, y)
		}
	}
	b.on[x], b.on[y] = b.on[y], b.on[x]
}

func (b *board) rename(i, x, y int32) {
	d := &b.p.Jobs[i]
	if !b.changed[i] {
		b.changed[i], d.Placement = true, slices.Clone(d.Placement)
	}
	names := [2]cluster.NodeID{b.cluster.Nodes()[x].ID, b.cluster.Nodes()[y].ID}
	for k := range d.Placement {
		switch share := &d.Placement[k]; share.Node {
		case names[0]:
			share.Node = names[1]
		case names[1]:
			share.Node = names[0]
		}
	}
}

func (b *board) write() {
	for i, j := range b.s.Jobs {
		d := &b.p.Jobs[i]
		if !b.changed[i] {
			continue
		}
		if d.Placement.Sort(); d.Placement.Equal(j.Placement) {
			d.Placement = j.Placement
		}
	}
}
