package goodput

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// Room. Enough GPUs may be free, yet on nodes held by jobs of later levels without checkpoints; the placer moves only
// other jobs. So for each job of a level that starts or moves, makeRoom looks for nodes with room, or nodes where
// such jobs can stop. Stopped jobs claim nothing in this round. Nodes whose jobs are of later levels are emptied
// first, then those that lose the least GPU time.

type room struct {
	l     *levelled
	stage int
	free  []int          // GPUs by node
	later map[int][]*Row // by node: jobs of later levels that stay there unless stopped
}

func (l *levelled) makeRoom(stage int) {
	var starts []*Row
	for i, r := range l.rows {
		if c := l.picked(r); l.of[i] == stage && !r.pinned() && c != nil && c.Configuration != r.job.Allocation.Configuration {
			starts = append(starts, r)
		}
	}
	if len(starts) == 0 || !l.obstructed(stage) {
		return
	}
	m := l.newRoom(stage)
	slices.SortStableFunc(starts, func(a, b *Row) int { return cmp.Compare(l.picked(b).GPUs, l.picked(a).GPUs) })
	for _, r := range starts {
		m.place(r, &l.picked(r).Configuration, l.clock)
	}
}

func (l *levelled) picked(r *Row) *configuration {
	c := l.sol.Pick[r.item.number]
	if c < 0 || r.pinned() {
		return nil
	}
	return &r.columns[r.item.origin[c].column]
}

func (l *levelled) obstructed(stage int) bool {
	for i, r := range l.rows {
		if l.of[i] > stage && r.stays() {
			return true
		}
	}
	return false
}

func (r *Row) stays() bool {
	return r.job.NoCheckpoint && r.job.Holding() && !r.pinned() && !r.evicted && len(r.item.choices) > 0
}

func (l *levelled) newRoom(stage int) *room {
	nodes := l.p.cluster.Nodes()
	m := &room{l: l, stage: stage, free: make([]int, len(nodes)), later: make(map[int][]*Row)}
	for n := range nodes {
		m.free[n] = nodes[n].Capacity.GPUs
	}
	for i, r := range l.rows {
		c := l.picked(r)
		keeps := r.pinned() || c != nil && c.Configuration == r.job.Allocation.Configuration
		switch {
		case l.of[i] <= stage && keeps, l.of[i] > stage && r.pinned():
			m.occupy(r, 1)
		case l.of[i] > stage && r.stays():
			m.occupy(r, 1)
			m.each(r, func(n, _ int) { m.later[n] = append(m.later[n], r) })
		}
	}
	return m
}

func (m *room) each(r *Row, do func(n, gpus int)) {
	for _, share := range r.job.Placement {
		if n, there := m.l.p.cluster.Index(share.Node); there {
			do(n, share.GPUs)
		}
	}
}

func (m *room) occupy(r *Row, sign int) { m.each(r, func(n, gpus int) { m.free[n] -= sign * gpus }) }

type site struct {
	node   int
	stop   []*Row
	level  int // earliest level of the stopped jobs
	wasted float64
}

func (m *room) place(r *Row, c *cluster.Configuration, now time.Time) {
	each := (c.GPUs + c.Nodes - 1) / max(1, c.Nodes)
	var sites []site
	for n := range m.free {
		if one := &m.l.p.cluster.Nodes()[n]; one.GPUType != c.GPUType || !r.job.MayUse(one.ID) {
			continue
		}
		if s, ok := m.site(n, each, now); ok {
			sites = append(sites, s)
		}
	}
	if len(sites) < c.Nodes {
		return
	}
	slices.SortStableFunc(sites, func(a, b site) int { return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(a.wasted, b.wasted)) })
	for _, s := range sites[:c.Nodes] {
		for _, r := range s.stop {
			m.stop(r)
		}
		m.free[s.node] -= each
	}
}

func (m *room) site(n, gpus int, now time.Time) (site, bool) {
	s, free := site{node: n, level: math.MaxInt}, m.free[n]
	all := slices.DeleteFunc(slices.Clone(m.later[n]), func(r *Row) bool { return r.evicted })
	slices.SortStableFunc(all, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(a.job.AttainedGPUService(now), b.job.AttainedGPUService(now)))
	})
	for k := 0; free < gpus && k < len(all); k++ {
		r := all[k]
		m.each(r, func(at, has int) {
			if at == n {
				free += has
			}
		})
		s.stop, s.level, s.wasted = append(s.stop, r), min(s.level, r.Level), s.wasted+r.job.AttainedGPUService(now).Seconds()
	}
	return s, free >= gpus
}

func (m *room) stop(r *Row) {
	if !r.evicted {
		r.evicted = true
		m.l.reclaimed[r] = m.stage%2 == 0
		m.occupy(r, -1)
	}
}

func (l *levelled) growth(r *Row) (all []option) {
	it := &r.item
	has := l.sol.Pick[it.number]
	if has < 0 || r.pinned() {
		return nil
	}
	for c := range it.choices {
		more := it.choices[c].Amount - it.choices[has].Amount
		gain := it.value(c) - it.value(has)
		if more > 0 && gain > 0 && it.choices[c].Resource == it.choices[has].Resource {
			all = append(all, option{c, mmkp.Choice{Value: gain, Use: mmkp.Use{Resource: it.choices[c].Resource, Amount: more}, More: beyond(&it.choices[c], &it.choices[has])}})
		}
	}
	return all
}

func beyond(c, other *mmkp.Choice) (more []mmkp.Use) {
	for _, u := range c.More {
		if n := u.Amount - other.Uses(u.Resource); n > 0 {
			more = append(more, mmkp.Use{Resource: u.Resource, Amount: n})
		}
	}
	return more
}
