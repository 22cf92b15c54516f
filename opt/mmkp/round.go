package mmkp

import (
	"cmp"
	"math"
	"slices"
)

// A rounding makes a first feasible solution at the prices, and holds the incumbent: the best solution found.
// item.taken has its columns.
type rounding struct {
	call *call
	core *coreProblem
	inv  *inventory
	scan *scanner

	walked    []float64 // end of the walk: the lowest bound for nudged values
	rest      []float64
	order     []int32
	best      []int32 // column per item of the core
	gap       float64 // bound - value of best
	tolerance float64 // gaps up to this count as none
	split     int     // items that the last vertex divides between columns
}

// round makes a first feasible solution from the nudged values, under which few items are undecided.
func (rd *rounding) round() {
	rd.split = rd.core.Split()
	rd.walked = append(rd.walked[:0], rd.core.Prices...)
	rd.core.Sharpen()
	rd.scan.recenter()
	for n := 0; !rd.assign(); n++ {
		if !rd.scan.loosen(n) {
			rd.serve()
			rd.tolerance = rd.call.opts.Gap * math.Abs(rd.core.Bound)
			rd.gap = rd.core.Bound - rd.core.Others
			return
		}
	}
	rd.core.Bound = rd.core.Weigh(rd.core.Prices, given)
	rd.tolerance = rd.call.opts.Gap * math.Abs(rd.core.Bound)
	rd.gap = rd.core.Idle(rd.rest)
	for _, c := range rd.best {
		rd.gap += rd.core.Columns[c].Regret
	}
}

// assign gives the core's items the capacity that the others leave. It reports false if a wider core may help: the
// others take too much, or an item that must be served gets nothing.
func (rd *rounding) assign() bool {
	rd.rest = append(rd.rest[:0], rd.core.Spare...)
	rd.best = sized(rd.best, len(rd.core.Items))
	if !rd.scan.whole && slices.Min(rd.rest) < 0 {
		return false
	}
	rd.core.Weigh(rd.walked, nudged)
	rd.arrange()
	for _, e := range rd.order {
		c := rd.cheapestFitting(e)
		if rd.core.Columns[c].Regret > 0 {
			c = rd.outside(e, c)
		}
		rd.best[e] = c
		rd.core.Use(&rd.core.Columns[c], rd.rest, -1)
		if rd.core.Items[e].Must && rd.core.Columns[c].ID == none && !rd.scan.whole {
			return false
		}
	}
	rd.fill()
	for e, c := range rd.best {
		rd.inv.items[rd.core.Items[e].Slot].taken = rd.core.Columns[c].ID
	}
	return true
}

// arrange sets the order of rounding: items that must be served first, then those whose second best column is worst.
func (rd *rounding) arrange() {
	rd.order = rd.order[:0]
	for i := range rd.core.Items {
		e := &rd.core.Items[i]
		least := math.Inf(1)
		e.Second = least
		for c := e.First; c < e.End; c++ {
			if x := rd.core.Columns[c].Regret; x < least {
				least, e.Second = x, least
			} else {
				e.Second = min(e.Second, x)
			}
		}
		rd.order = append(rd.order, int32(i))
	}
	slices.SortFunc(rd.order, func(a, b int32) int {
		x, y := &rd.core.Items[a], &rd.core.Items[b]
		return decidedFirst(x.Must, y.Must, x.Second, y.Second, x.Rank, y.Rank)
	})
}

func decidedFirst(must, other bool, second, others float64, rank, rival uint32) int {
	if must != other {
		if must {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(others, second), cmp.Compare(rank, rival))
}

func (rd *rounding) cheapestFitting(e int32) int32 {
	best := rd.core.Items[e].First
	for c := best + 1; c < rd.core.Items[e].End; c++ {
		if rd.core.Columns[c].Regret < rd.core.Columns[best].Regret && rd.core.FitsInto(&rd.core.Columns[c], rd.rest) {
			best = c
		}
	}
	return best
}

// outside returns the fitting column of least regret among all columns of the item, or c if none is better.
func (rd *rounding) outside(e, c int32) int32 {
	first, amounts, best := len(rd.core.Columns), len(rd.core.Amounts), -1
	rd.scan.list(rd.core.Items[e].Slot, rd.core.Columns[c].Regret)
	for i := first; i < len(rd.core.Columns); i++ {
		if (best < 0 || rd.core.Columns[i].Regret < rd.core.Columns[best].Regret) && rd.core.FitsInto(&rd.core.Columns[i], rd.rest) {
			best = i
		}
	}
	if best < 0 {
		rd.core.Columns, rd.core.Amounts = rd.core.Columns[:first], rd.core.Amounts[:amounts]
		return c
	}
	rd.core.Columns[first] = rd.core.Columns[best]
	rd.core.Columns = rd.core.Columns[:first+1]
	return int32(first)
}

// fill moves core items to more valuable columns that fit, undecided items first.
func (rd *rounding) fill() {
	for _, e := range slices.Backward(rd.order) {
		now := rd.best[e]
		rd.core.Use(&rd.core.Columns[now], rd.rest, 1)
		for c := rd.core.Items[e].First; c < rd.core.Items[e].End; c++ {
			if rd.core.Columns[c].Value > rd.core.Columns[now].Value && rd.core.FitsInto(&rd.core.Columns[c], rd.rest) {
				now = c
			}
		}
		rd.best[e] = now
		rd.core.Use(&rd.core.Columns[now], rd.rest, -1)
	}
}

// serve makes a solution if the items outside the core take too much, at prices far from the lowest bound. One item
// after the other takes its best fitting column, those that must be served first.
func (rd *rounding) serve() {
	rd.rest = append(rd.rest[:0], rd.core.Capacity...)
	rd.core.Items, rd.core.Columns, rd.core.Amounts, rd.best = rd.core.Items[:0], rd.core.Columns[:0], rd.core.Amounts[:0], rd.best[:0]
	rd.core.Others = 0
	order := rd.inv.byRank()
	for _, must := range [2]bool{true, false} {
		for _, i := range order {
			if rd.inv.items[i].must == must {
				rd.serveItem(i)
			}
		}
	}
	copy(rd.core.Spare, rd.rest)
}

func (rd *rounding) serveItem(i int32) {
	x, r := &rd.inv.items[i], &rd.inv.rows[i]
	first, amounts := len(rd.core.Columns), len(rd.core.Amounts)
	rd.scan.list(i, math.Inf(1))
	best := -1
	for c := first; c < len(rd.core.Columns); c++ {
		if (best < 0 || rd.core.Columns[c].Regret < rd.core.Columns[best].Regret) && rd.core.FitsInto(&rd.core.Columns[c], rd.rest) {
			best = c
		}
	}
	x.taken = none
	if best >= 0 && rd.core.Columns[best].ID != none {
		x.taken = rd.core.Columns[best].ID
		rd.core.Use(&rd.core.Columns[best], rd.rest, -1)
		rd.core.Others += x.worth(r, x.taken)
	} else if x.must {
		rd.core.Others -= rd.scan.penalty
	}
	rd.core.Columns, rd.core.Amounts = rd.core.Columns[:first], rd.core.Amounts[:amounts]
}
