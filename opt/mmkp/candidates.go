package mmkp

import (
	"cmp"
	"math"
	"slices"
)

// Candidates are the items whose options can still improve the incumbent.
type candidates struct {
	core *coreProblem
	inv  *inventory
	scan *scanner

	open      []undecided
	closed    []undecided // one option each
	scattered bool        // items outside the core are among them
}

// An undecided item and its options in Core.Columns, by regret: only those that regret alone does not rule out.
type undecided struct {
	slot       int32
	first, end int32
	rank       uint32
	must       bool
	second     float64 // regret of the second option
}

// collect lists the options of regret below the limit, of all items or only of the core.
func (cs *candidates) collect(all bool, limit float64, most int) bool {
	cs.open, cs.closed = cs.open[:0], cs.closed[:0]
	cs.core.Columns, cs.core.Amounts = cs.core.Columns[:0], cs.core.Amounts[:0]
	cs.scattered = all
	if all {
		for i := range cs.inv.items {
			if cs.inv.items[i].live {
				cs.consider(int32(i), limit)
			}
			if len(cs.core.Columns) > most {
				return false
			}
		}
	} else {
		for i := range cs.core.Items {
			cs.consider(cs.core.Items[i].Slot, limit)
			if len(cs.core.Columns) > most {
				return false
			}
		}
	}
	slices.SortFunc(cs.open, func(a, b undecided) int {
		return decidedFirst(a.must, b.must, a.second, b.second, a.rank, b.rank)
	})
	return true
}

// consider lists the options of an item; "none" is left out if the item must be served.
func (cs *candidates) consider(i int32, limit float64) {
	x := &cs.inv.items[i]
	u := undecided{slot: i, first: int32(len(cs.core.Columns)), rank: x.rank, must: x.must}
	cs.scan.list(i, limit)
	if x.must && len(cs.core.Columns) > int(u.first) && cs.core.Columns[u.first].ID == none {
		cs.core.Columns = slices.Delete(cs.core.Columns, int(u.first), int(u.first)+1)
	}
	u.end = int32(len(cs.core.Columns))
	own := cs.core.Columns[u.first:]
	slices.SortFunc(own, func(a, b column) int { return cmp.Or(cmp.Compare(a.Regret, b.Regret), cmp.Compare(a.ID, b.ID)) })
	if len(own) > 1 {
		u.second = own[1].Regret
	}
	if len(own) > 1 || len(own) == 1 && !cs.scattered && own[0].ID != x.taken {
		cs.open = append(cs.open, u)
		return
	}
	cs.closed = append(cs.closed, u)
}

// memoSize is the number of entries of a memo, a power of two. A larger memo does not fit the cache, a smaller one
// forgets too much.
const memoSize = 1 << 14

// A memo maps (depth, capacity left) to the least regret with which the search reached it: reaching it again with as
// much or more cannot lead to anything better. A new state replaces the old one of its entry.
type memo struct {
	entries []entry
	rests   []float64
	k       int
	epoch   uint32 // entries of other epochs are empty
}

type entry struct {
	regret float64
	depth  int32
	epoch  uint32
}

func (m *memo) reset(k int) {
	if m.k != k || m.entries == nil || m.epoch == math.MaxUint32 {
		*m = memo{entries: make([]entry, memoSize), rests: make([]float64, memoSize*k), k: k}
	}
	m.epoch++
}

// better reports whether the state was reached before with at most this regret, and otherwise stores it.
func (m *memo) better(depth int, rest []float64, regret float64) bool {
	h := uint64(depth+1) * 0x9e3779b97f4a7c15 // odd multipliers of splitmix64
	for _, x := range rest {
		h = (h ^ math.Float64bits(x)) * 0xbf58476d1ce4e5b9
		h ^= h >> 32
	}
	at := int(h % memoSize)
	e, kept := &m.entries[at], m.rests[at*m.k:(at+1)*m.k]
	if e.epoch == m.epoch && int(e.depth) == depth && e.regret <= regret && same(kept, rest) {
		return true
	}
	*e = entry{regret, int32(depth), m.epoch}
	copy(kept, rest)
	return false
}

func same(a, b []float64) bool {
	for k := range a {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}
