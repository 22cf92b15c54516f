package mmkp

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp/internal/core"
)

// rounding holds the best solution found; item.taken has its columns.
type rounding struct {
	walked    []float64 // end of the walk: the lowest bound for nudged values
	rest      []float64
	order     []int32
	best      []int32 // column per item of the core
	gap       float64 // bound - value of best
	tolerance float64 // gaps up to this count as none
	split     int     // items that the last vertex divides between columns
	scattered bool    // the search changed items outside the core
}

// round makes a first feasible solution from the nudged values, under which few items are undecided. Bound and
// regrets use the values as given.
func (p *Program) round() {
	p.split, p.scattered = p.core.Split(), false
	p.walked = append(p.walked[:0], p.core.Prices...)
	p.core.Sharpen()
	p.recenter()
	for n := 0; !p.assign(); n++ {
		if !p.loosen(n) {
			p.serve()
			p.tolerance = p.opts.Gap * math.Abs(p.core.Bound)
			p.gap = p.core.Bound - p.core.Others
			return
		}
	}
	p.core.Bound = p.core.Weigh(p.core.Prices, core.Given)
	p.tolerance = p.opts.Gap * math.Abs(p.core.Bound)
	p.gap = p.idleCost(p.rest)
	for _, c := range p.best {
		p.gap += p.core.Columns[c].Regret
	}
}

// assign gives the core's items the capacity that the others leave. It reports false if a wider core may help: the
// others take too much, or an item that must be served gets nothing.
func (p *Program) assign() bool {
	p.rest = append(p.rest[:0], p.core.Spare...)
	p.best = sized(p.best, len(p.core.Items))
	if !p.whole && slices.Min(p.rest) < 0 {
		return false
	}
	p.core.Weigh(p.walked, core.Nudged)
	p.arrange()
	for _, e := range p.order {
		c := p.cheapestFitting(e)
		if p.core.Columns[c].Regret > 0 {
			c = p.outside(e, c)
		}
		p.best[e] = c
		p.core.Use(&p.core.Columns[c], p.rest, -1)
		if p.core.Items[e].Must && p.core.Columns[c].ID == none && !p.whole {
			return false
		}
	}
	p.fill()
	for e, c := range p.best {
		p.items[p.core.Items[e].Slot].taken = p.core.Columns[c].ID
	}
	return true
}

// arrange sets the order of rounding: items that must be served first, then those whose second best column is worst.
// Undecided items come last and fill the rest.
func (p *Program) arrange() {
	p.order = p.order[:0]
	for i := range p.core.Items {
		e := &p.core.Items[i]
		least := math.Inf(1)
		e.Second = least
		for c := e.First; c < e.End; c++ {
			if x := p.core.Columns[c].Regret; x < least {
				least, e.Second = x, least
			} else {
				e.Second = min(e.Second, x)
			}
		}
		p.order = append(p.order, int32(i))
	}
	slices.SortFunc(p.order, func(a, b int32) int {
		x, y := &p.core.Items[a], &p.core.Items[b]
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

func (p *Program) cheapestFitting(e int32) int32 {
	best := p.core.Items[e].First
	for c := best + 1; c < p.core.Items[e].End; c++ {
		if p.core.Columns[c].Regret < p.core.Columns[best].Regret && p.core.FitsInto(&p.core.Columns[c], p.rest) {
			best = c
		}
	}
	return best
}

// outside returns the fitting column of least regret among all columns of the item, or c if none is better.
func (p *Program) outside(e, c int32) int32 {
	first, amounts, best := len(p.core.Columns), len(p.core.Amounts), -1
	p.list(p.core.Items[e].Slot, p.core.Columns[c].Regret)
	for i := first; i < len(p.core.Columns); i++ {
		if (best < 0 || p.core.Columns[i].Regret < p.core.Columns[best].Regret) && p.core.FitsInto(&p.core.Columns[i], p.rest) {
			best = i
		}
	}
	if best < 0 {
		p.core.Columns, p.core.Amounts = p.core.Columns[:first], p.core.Amounts[:amounts]
		return c
	}
	p.core.Columns[first] = p.core.Columns[best]
	p.core.Columns = p.core.Columns[:first+1]
	return int32(first)
}

// fill moves core items to more valuable columns that fit, undecided items first.
func (p *Program) fill() {
	for _, e := range slices.Backward(p.order) {
		now := p.best[e]
		p.core.Use(&p.core.Columns[now], p.rest, 1)
		for c := p.core.Items[e].First; c < p.core.Items[e].End; c++ {
			if p.core.Columns[c].Value > p.core.Columns[now].Value && p.core.FitsInto(&p.core.Columns[c], p.rest) {
				now = c
			}
		}
		p.best[e] = now
		p.core.Use(&p.core.Columns[now], p.rest, -1)
	}
}

func (p *Program) idleCost(rest []float64) float64 {
	total := 0.0
	for k, b := range rest {
		total += b * p.core.Prices[k]
	}
	return total
}

// loosen widens the ranges beyond the search for prices, for the n-th time, and reports false if that makes the core
// too large.
func (p *Program) loosen(n int) bool {
	switch {
	case p.whole:
		return false
	case n < 4:
		for k := range p.core.Ranges {
			b := &p.core.Ranges[k]
			wide := 8 * max(b.High-b.Middle, b.Middle-b.Low)
			b.Low, b.High = max(0, b.Middle-wide), b.Middle+wide
			b.Below, b.Above = b.Low, b.High
		}
		return p.scan()
	}
	for k, x := range p.core.Prices {
		p.core.Ranges[k] = core.Range{Middle: x, High: math.MaxFloat64, Above: math.MaxFloat64}
	}
	p.whole = true
	return p.scan()
}

func (p *Program) recenter() {
	for k, x := range p.core.Prices {
		p.core.Ranges[k].Middle = x
	}
}

// serve makes a solution if the items outside the core take too much, at prices far from the lowest bound. One item
// after the other takes its best fitting column, those that must be served first.
func (p *Program) serve() {
	p.rest = append(p.rest[:0], p.core.Capacity...)
	p.core.Items, p.core.Columns, p.core.Amounts, p.best = p.core.Items[:0], p.core.Columns[:0], p.core.Amounts[:0], p.best[:0]
	p.core.Others = 0
	order := p.byRank()
	for _, must := range [2]bool{true, false} {
		for _, i := range order {
			if p.items[i].must == must {
				p.serveItem(i)
			}
		}
	}
	copy(p.core.Spare, p.rest)
}

func (p *Program) serveItem(i int32) {
	x, r := &p.items[i], &p.rows[i]
	first, amounts := len(p.core.Columns), len(p.core.Amounts)
	p.list(i, math.Inf(1))
	best := -1
	for c := first; c < len(p.core.Columns); c++ {
		if (best < 0 || p.core.Columns[c].Regret < p.core.Columns[best].Regret) && p.core.FitsInto(&p.core.Columns[c], p.rest) {
			best = c
		}
	}
	x.taken = none
	if best >= 0 && p.core.Columns[best].ID != none {
		x.taken = p.core.Columns[best].ID
		p.core.Use(&p.core.Columns[best], p.rest, -1)
		p.core.Others += x.worth(r, x.taken)
	} else if x.must {
		p.core.Others -= p.penalty
	}
	p.core.Columns, p.core.Amounts = p.core.Columns[:first], p.core.Amounts[:amounts]
}
