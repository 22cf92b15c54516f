package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy/placement"
)

type layout struct {
	slots [][]placement.Slot // by job; none: its placement is given, or there is no room
	cells []int              // by job: the cell that the Settler chose
	value float64
	net   float64 // value times the seconds of the round, minus what moved jobs lose
}

// sort orders jobs by GPUs, then by planned CPUs and memory for each GPU, all descending, then by ID. Source:
// Synergy §4.2.
func (pl *Placer) sort() {
	slices.SortFunc(pl.order, func(a, b int) int {
		x, _ := pl.gpus(a)
		y, _ := pl.gpus(b)
		if x != y {
			return cmp.Compare(y, x)
		}
		c, d := pl.demand(a), pl.demand(b)
		return cmp.Or(cmp.Compare(d.CPUs, c.CPUs), cmp.Compare(d.Memory, c.Memory), cmp.Compare(pl.s.Jobs[a].ID, pl.s.Jobs[b].ID))
	})
}

func (pl *Placer) demand(i int) cluster.Resources { return pl.demands[i] }

func (pl *Placer) modest(i int) cluster.Resources { return pl.modests[i] }

func (pl *Placer) fill(l *layout, stay bool) {
	pl.start(l)
	pending := pl.mending.pending[:0]
	for _, i := range pl.order {
		if held := pl.held[i]; stay && len(held) > 0 && pl.least.Fits(held, pl.modest(i)) {
			pl.take(l, i, held)
		} else {
			pending = append(pending, i)
		}
	}
	pl.mending.pending = pending
	rests := pl.pendingBy(pending)
	for _, i := range pending {
		pl.reserve(rests, i)
		pl.place(l, i)
	}
}

func (pl *Placer) start(l *layout) {
	for len(l.slots) < len(pl.s.Jobs) {
		l.slots = append(l.slots, nil)
	}
	for i := range pl.s.Jobs {
		l.slots[i] = l.slots[i][:0]
	}
	pl.retake(l)
}

func (pl *Placer) retake(l *layout) {
	pl.wish.Reset()
	pl.least.Reset()
	for i := range pl.settler.Jobs {
		if len(l.slots[i]) > 0 {
			pl.wish.TakeAll(l.slots[i], pl.demand(i))
			pl.least.TakeAll(l.slots[i], pl.modest(i))
		}
		for _, share := range pl.settler.Jobs[i].Fixed {
			n, _ := pl.s.Cluster.Index(share.Node)
			pl.wish.Take(n, share.Resources)
			pl.least.Take(n, share.Resources)
		}
	}
}

func (pl *Placer) take(l *layout, i int, slots []placement.Slot) {
	l.slots[i] = append(l.slots[i][:0], slots...)
	pl.wish.TakeAll(slots, pl.demand(i))
	pl.least.TakeAll(slots, pl.modest(i))
}

type rest struct {
	gpus, free int               // GPUs of pending jobs, and free GPUs
	modest     cluster.Resources // least wish for a GPU of any pending job
}

func (pl *Placer) pendingBy(pending []int) []rest {
	rests := make([]rest, len(pl.s.Cluster.Types()))
	for k := range rests {
		rests[k].modest = cluster.Resources{CPUs: math.Inf(1), Memory: math.MaxInt64}
	}
	for _, i := range pending {
		gpus, t := pl.gpus(i)
		r, d := &rests[pl.s.Cluster.TypeIndex(t)], pl.demand(i)
		r.gpus += gpus
		r.modest.CPUs, r.modest.Memory = min(r.modest.CPUs, d.CPUs), min(r.modest.Memory, d.Memory)
	}
	for n := range pl.s.Cluster.Nodes() {
		rests[pl.s.Cluster.TypeIndex(pl.s.Cluster.Nodes()[n].GPUType)].free += pl.wish.Free(n).GPUs
	}
	return rests
}

// reserve sets what each other free GPU keeps for later jobs: the demand of the most modest one, or
// proportionally less if there are more free GPUs than these need.
func (pl *Placer) reserve(rests []rest, i int) {
	gpus, t := pl.gpus(i)
	r := &rests[pl.s.Cluster.TypeIndex(t)]
	r.gpus, r.free = r.gpus-gpus, r.free-gpus
	keep := cluster.Resources{}
	if r.gpus > 0 {
		used := min(1, float64(r.gpus)/float64(max(1, r.free)))
		keep.CPUs, keep.Memory = used*r.modest.CPUs, int64(used*float64(r.modest.Memory))
	}
	pl.wish.Reserve(t, keep)
}

func (pl *Placer) place(l *layout, i int) {
	gpus, t := pl.gpus(i)
	cells := pl.settler.Jobs[i].Cells
	node, cell := pl.onOne(i)
	if gpus > 1 && cell < pl.settler.Jobs[i].Wish {
		if slots, at, ok := pl.onSeveral(i); ok && (cell < 0 || len(slots) > 1 && cells[at].Value*(1-pl.o.Penalty) > cells[cell].Value+1e-9) {
			pl.take(l, i, slots)
			return
		}
	}
	if cell >= 0 {
		pl.take(l, i, []placement.Slot{{Node: node, GPUs: gpus}})
	} else if slots, ok := pl.least.Split(t, gpus, pl.worker(i), cells[0].Per()); ok {
		pl.take(l, i, slots)
	}
}

func (pl *Placer) onOne(i int) (node, cell int) {
	gpus, t := pl.gpus(i)
	j := &pl.settler.Jobs[i]
	for k := j.Wish; k >= 0; k-- {
		if n, ok := pl.wish.One(t, gpus, j.Cells[k].Per()); ok {
			return n, k
		}
	}
	if n, ok := pl.least.One(t, gpus, j.Cells[0].Per()); ok {
		return n, 0
	}
	return 0, -1
}

func (pl *Placer) onSeveral(i int) (slots []placement.Slot, cell int, ok bool) {
	gpus, t := pl.gpus(i)
	j := &pl.settler.Jobs[i]
	for k := j.Wish; k >= 0; k-- {
		if slots, ok = pl.wish.Split(t, gpus, pl.worker(i), j.Cells[k].Per()); ok {
			return slots, k, true
		}
	}
	return nil, 0, false
}

func (pl *Placer) settle(l *layout) {
	for i := range pl.settler.Jobs {
		j := &pl.settler.Jobs[i]
		j.Slots = append(j.Slots[:0], l.slots[i]...)
	}
	l.value = pl.settler.Settle()
	l.cells = slices.Grow(l.cells[:0], len(pl.settler.Jobs))[:len(pl.settler.Jobs)]
	for i := range pl.settler.Jobs {
		j := &pl.settler.Jobs[i]
		l.cells[i] = j.Cell
		if len(j.Slots) < len(l.slots[i]) {
			l.slots[i] = l.slots[i][:0]
		}
	}
	l.net = l.value*pl.s.Length.Seconds() - pl.lost(l, func(i int) int { return l.cells[i] })
}

func (pl *Placer) lost(l *layout, cell func(i int) int) (sum float64) {
	for _, i := range pl.order {
		if len(pl.held[i]) == 0 || len(l.slots[i]) == 0 || sameSlots(l.slots[i], pl.held[i]) {
			continue
		}
		v := pl.settler.Jobs[i].Cells[cell(i)].Value
		if len(l.slots[i]) > 1 {
			v *= 1 - pl.o.Penalty
		}
		sum += pl.s.Jobs[i].RestartOverhead.Seconds() * v
	}
	return sum
}

func sameSlots(a, b []placement.Slot) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s placement.Slot) bool { return on(b, s.Node) != s.GPUs })
}

func (pl *Placer) best() *layout {
	stay, mended, anew := &pl.tried[0], &pl.tried[1], &pl.tried[2]
	pl.fill(stay, true)
	pl.mend(stay, pl.mending.pending)
	pl.settle(stay)
	best, named := stay, pl.named()
	if stay.value >= named-1e-9 {
		return best
	}
	pl.copy(mended, stay)
	if pl.mend(mended, pl.order) {
		pl.settle(mended)
		best = better(best, mended)
	}
	if best.value >= named-1e-9 {
		return best
	}
	pl.fill(anew, false)
	pl.naming.rename(pl, anew)
	if !pl.mayPay(anew, named, best) {
		return best
	}
	pl.retake(anew)
	pl.mend(anew, pl.order)
	pl.settle(anew)
	return better(best, anew)
}

func (pl *Placer) mayPay(l *layout, named float64, best *layout) bool {
	lost := pl.lost(l, func(i int) int { return pl.settler.Jobs[i].Wish })
	return named*pl.s.Length.Seconds()-lost > best.net
}

func better(a, b *layout) *layout {
	if b.net > a.net+1e-9 {
		return b
	}
	return a
}

func (pl *Placer) named() (sum float64) {
	for _, i := range pl.order {
		sum += pl.most(i)
	}
	return sum
}

// most bounds the value of job i: its wish, split, or the fastest cell that fits on one idle node.
func (pl *Placer) most(i int) float64 {
	gpus, t := pl.gpus(i)
	j := &pl.settler.Jobs[i]
	split := j.Cells[j.Wish].Value * (1 - pl.o.Penalty)
	for k := j.Wish; k >= 0; k-- {
		if v := j.Cells[k].Value; v <= split || !pl.wish.Beyond(t, gpus, j.Cells[k].Per()) {
			return max(v, split)
		}
	}
	return split
}

func (pl *Placer) copy(l, from *layout) {
	for len(l.slots) < len(from.slots) {
		l.slots = append(l.slots, nil)
	}
	for i := range pl.s.Jobs {
		l.slots[i] = append(l.slots[i][:0], from.slots[i]...)
	}
}
