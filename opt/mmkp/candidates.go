package mmkp

import (
	"cmp"
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
