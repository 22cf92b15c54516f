package mmkp

import (
	"cmp"
	"math"
	"slices"
)

type shift struct {
	regret float64
	item   int32 // in candidates.open
	column int32
	change int32 // first of k in mending.changes: additional use
}

// A mending improves the incumbent by shifts of one, two or three items at a time.
type mending struct {
	core     *coreProblem
	inv      *inventory
	scan     *scanner
	rounding *rounding
	options  *candidates

	now      []column
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

const maxShifts = 3

// maxTried bounds the combinations tried in one call. Programs of less than a thousand items get fewer, because the
// search suits them better.
const maxTried = 1 << 14

// mend improves the best solution while a few items together can use idle capacity. The gain is at most the price of
// the idle capacity, so only shifts with less regret are tried.
func (m *mending) mend() {
	m.tried, m.allowed = 0, min(maxTried, 256+16*m.inv.live)
	m.room = sized(m.room, (maxShifts+1)*m.core.K)
	m.findNow()
	m.listShifts()
	for m.rounding.gap > m.rounding.tolerance && m.tried < m.allowed {
		m.gain, m.depth = 1e-12*m.rounding.gap, 0
		for m.atMost = 1; m.atMost <= maxShifts && m.depth == 0; m.atMost++ {
			copy(m.room, m.rounding.rest)
			m.combine(0, 0, 0)
		}
		if m.depth == 0 {
			return
		}
		for n, s := range m.improved[:m.depth] {
			m.moved[n] = m.shifts[s].item
			m.apply(&m.shifts[s])
		}
		m.rounding.gap -= m.gain
		m.relistShifts(m.moved[:m.depth])
	}
}

func (m *mending) findNow() {
	m.now = m.now[:0]
	for _, u := range m.options.open {
		first, end := u.first, u.end
		id := m.inv.items[u.slot].taken
		n := len(m.core.Columns)
		if !slices.ContainsFunc(m.core.Columns[first:end], func(c column) bool { return c.ID == id }) {
			m.scan.list(u.slot, math.Inf(1))
			first, end = int32(n), int32(len(m.core.Columns))
		}
		for _, c := range m.core.Columns[first:end] {
			if c.ID == id {
				m.now = append(m.now, c)
			}
		}
		m.core.Columns = m.core.Columns[:n]
	}
}

func (m *mending) listShifts() {
	m.shifts, m.changes = m.shifts[:0], m.changes[:0]
	for i := range m.options.open {
		m.shifts = m.addShifts(m.shifts, int32(i))
	}
	slices.SortFunc(m.shifts, lessRegret)
}

func (m *mending) relistShifts(items []int32) {
	m.fresh = m.fresh[:0]
	for _, i := range items {
		m.fresh = m.addShifts(m.fresh, i)
	}
	slices.SortFunc(m.fresh, lessRegret)
	m.merged = m.merged[:0]
	fresh := m.fresh
	for _, s := range m.shifts {
		if slices.Contains(items, s.item) {
			continue
		}
		for len(fresh) > 0 && lessRegret(fresh[0], s) < 0 {
			m.merged, fresh = append(m.merged, fresh[0]), fresh[1:]
		}
		m.merged = append(m.merged, s)
	}
	m.merged = append(m.merged, fresh...)
	m.shifts, m.merged = m.merged, m.shifts
}

func (m *mending) addShifts(list []shift, i int32) []shift {
	u, now := &m.options.open[i], &m.now[i]
	for c := u.first; c < u.end; c++ {
		if m.core.Columns[c].ID == now.ID {
			continue
		}
		at := len(m.changes)
		m.changes = append(m.changes, m.room[:m.core.K]...)
		clear(m.changes[at:])
		m.core.Use(&m.core.Columns[c], m.changes[at:], 1)
		m.core.Use(now, m.changes[at:], -1)
		list = append(list, shift{m.core.Columns[c].Regret - now.Regret, i, c, int32(at)})
	}
	return list
}

func lessRegret(a, b shift) int {
	return cmp.Or(cmp.Compare(a.regret, b.regret), cmp.Compare(a.item, b.item), cmp.Compare(a.column, b.column))
}

// combine adds each shift from first on to the chosen ones, whose additional regret is given, and keeps the best
// combination that fits.
func (m *mending) combine(depth, first int, regret float64) {
	left := m.room[depth*m.core.K : (depth+1)*m.core.K]
	next := m.room[(depth+1)*m.core.K : (depth+2)*m.core.K]
	rest, prices := m.rounding.rest, m.core.Prices
	idle := m.core.Idle(rest)
	for s := first; s < len(m.shifts); s++ {
		x := &m.shifts[s]
		more := regret + x.regret
		if more+m.gain >= idle || m.tried >= m.allowed {
			return
		}
		if m.moves(depth, x.item) {
			continue
		}
		m.tried++
		fits := true
		worth := -more
		for k := range next {
			change := m.changes[int(x.change)+k]
			next[k] = left[k] - change
			fits = fits && next[k] >= 0
			worth += (rest[k] - next[k]) * prices[k]
		}
		m.chosen[depth] = int32(s)
		if fits && worth > m.gain {
			m.gain, m.depth = worth, depth+1
			m.improved = m.chosen
		}
		if depth+1 < m.atMost {
			m.combine(depth+1, s+1, more)
		}
	}
}

func (m *mending) moves(depth int, item int32) bool {
	for _, s := range m.chosen[:depth] {
		if m.shifts[s].item == item {
			return true
		}
	}
	return false
}

func (m *mending) apply(s *shift) {
	m.now[s.item] = m.core.Columns[s.column]
	for k := range m.rounding.rest {
		m.rounding.rest[k] -= m.changes[int(s.change)+k]
	}
	m.inv.items[m.options.open[s.item].slot].taken = m.core.Columns[s.column].ID
}
