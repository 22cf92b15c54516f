package mmkp

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp/internal/core"
)

type shift struct {
	regret float64
	item   int32 // in search.open
	column int32
	change int32 // first of k in mending.changes: additional use
}

// mending improves a solution by shifts of one, two or three items at a time.
type mending struct {
	now      []core.Column
	shifts   []shift // by regret
	fresh    []shift // of items that have moved
	merged   []shift // memory of the next list
	moved    [maxShifts]int32
	changes  []float64
	tried    int
	allowed  int
	room     []float64 // capacity left, k per depth
	chosen   [maxShifts]int32
	improved [maxShifts]int32
	depth    int
	atMost   int // shifts in a combination
	gain     float64
}

// maxShifts is the maximum number of items that one improvement moves.
const maxShifts = 3

// maxTried bounds the combinations tried in one call. Programs of less than a thousand items get fewer, because the
// search suits them better.
const maxTried = 1 << 14

// mend improves the best solution while a few items together can use idle capacity. The gain is at most the price of
// the idle capacity, so only shifts with less regret are tried.
func (p *Program) mend() {
	p.tried, p.allowed = 0, min(maxTried, 256+16*p.live)
	p.room = sized(p.room, (maxShifts+1)*p.core.K)
	p.findNow()
	p.listShifts()
	for p.gap > p.tolerance && p.tried < p.allowed {
		p.gain, p.depth = 1e-12*p.gap, 0
		for p.atMost = 1; p.atMost <= maxShifts && p.depth == 0; p.atMost++ {
			copy(p.room, p.rest)
			p.combine(0, 0, 0)
		}
		if p.depth == 0 {
			return
		}
		for n, s := range p.improved[:p.depth] {
			p.moved[n] = p.shifts[s].item
			p.apply(&p.shifts[s])
		}
		p.gap -= p.gain
		p.relistShifts(p.moved[:p.depth])
	}
}

func (p *Program) findNow() {
	p.now = p.now[:0]
	for _, u := range p.open {
		first, end := u.first, u.end
		id := p.items[u.slot].taken
		n := len(p.core.Columns)
		if !slices.ContainsFunc(p.core.Columns[first:end], func(c core.Column) bool { return c.ID == id }) {
			p.list(u.slot, math.Inf(1))
			first, end = int32(n), int32(len(p.core.Columns))
		}
		for _, c := range p.core.Columns[first:end] {
			if c.ID == id {
				p.now = append(p.now, c)
			}
		}
		p.core.Columns = p.core.Columns[:n]
	}
}

func (p *Program) listShifts() {
	p.shifts, p.changes = p.shifts[:0], p.changes[:0]
	for i := range p.open {
		p.shifts = p.addShifts(p.shifts, int32(i))
	}
	slices.SortFunc(p.shifts, lessRegret)
}

func (p *Program) relistShifts(items []int32) {
	p.fresh = p.fresh[:0]
	for _, i := range items {
		p.fresh = p.addShifts(p.fresh, i)
	}
	slices.SortFunc(p.fresh, lessRegret)
	p.merged = p.merged[:0]
	fresh := p.fresh
	for _, s := range p.shifts {
		if slices.Contains(items, s.item) {
			continue
		}
		for len(fresh) > 0 && lessRegret(fresh[0], s) < 0 {
			p.merged, fresh = append(p.merged, fresh[0]), fresh[1:]
		}
		p.merged = append(p.merged, s)
	}
	p.merged = append(p.merged, fresh...)
	p.shifts, p.merged = p.merged, p.shifts
}

func (p *Program) addShifts(list []shift, i int32) []shift {
	u, now := &p.open[i], &p.now[i]
	for c := u.first; c < u.end; c++ {
		if p.core.Columns[c].ID == now.ID {
			continue
		}
		at := len(p.changes)
		p.changes = append(p.changes, p.room[:p.core.K]...)
		clear(p.changes[at:])
		p.core.Use(&p.core.Columns[c], p.changes[at:], 1)
		p.core.Use(now, p.changes[at:], -1)
		list = append(list, shift{p.core.Columns[c].Regret - now.Regret, i, c, int32(at)})
	}
	return list
}

func lessRegret(a, b shift) int {
	return cmp.Or(cmp.Compare(a.regret, b.regret), cmp.Compare(a.item, b.item), cmp.Compare(a.column, b.column))
}

// combine adds each shift from first on to the chosen ones, whose additional regret is given, and keeps the best
// combination that fits.
func (p *Program) combine(depth, first int, regret float64) {
	left := p.room[depth*p.core.K : (depth+1)*p.core.K]
	next := p.room[(depth+1)*p.core.K : (depth+2)*p.core.K]
	idle := p.idleCost(p.rest)
	for s := first; s < len(p.shifts); s++ {
		x := &p.shifts[s]
		more := regret + x.regret
		if more+p.gain >= idle || p.tried >= p.allowed {
			return
		}
		if p.moves(depth, x.item) {
			continue
		}
		p.tried++
		fits := true
		worth := -more
		for k := range next {
			change := p.changes[int(x.change)+k]
			next[k] = left[k] - change
			fits = fits && next[k] >= 0
			worth += (p.rest[k] - next[k]) * p.core.Prices[k]
		}
		p.chosen[depth] = int32(s)
		if fits && worth > p.gain {
			p.gain, p.depth = worth, depth+1
			p.improved = p.chosen
		}
		if depth+1 < p.atMost {
			p.combine(depth+1, s+1, more)
		}
	}
}

func (p *Program) moves(depth int, item int32) bool {
	for _, s := range p.chosen[:depth] {
		if p.shifts[s].item == item {
			return true
		}
	}
	return false
}

func (p *Program) apply(s *shift) {
	p.now[s.item] = p.core.Columns[s.column]
	for k := range p.rest {
		p.rest[k] -= p.changes[int(s.change)+k]
	}
	p.items[p.open[s.item].slot].taken = p.core.Columns[s.column].ID
}
