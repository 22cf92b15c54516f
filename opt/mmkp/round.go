package mmkp

import (
	"cmp"
	"math"
	"slices"
)

// rounding holds the best solution found; item.taken has its columns.
type rounding struct {
	walked    []float64 // where the walk ended: the lowest bound for nudged values
	rest      []float64 // capacity left
	order     []int32   // entrants
	best      []int32   // column per entrant
	gap       float64   // bound - value of best
	tolerance float64   // a gap this small is none
	split     int       // items that the last vertex divides between columns
	scattered bool      // the search changed items outside the window
}

// round makes a first feasible solution from the nudged values, under which few
// items are undecided, and computes the bound and the regrets from the values
// as given.
func (p *Program) round() {
	p.split, p.scattered = 0, false
	for r := range p.planes {
		if p.leads(r) {
			p.split++
		}
	}
	p.walked = append(p.walked[:0], p.prices...)
	p.sharpen()
	p.recenter()
	for n := 0; !p.assign(); n++ {
		if !p.loosen(n) {
			p.serve()
			p.tolerance = p.opts.Gap * math.Abs(p.bound)
			p.gap = p.bound - p.others
			return
		}
	}
	p.bound = p.weigh(p.prices, given)
	p.tolerance = p.opts.Gap * math.Abs(p.bound)
	p.gap = p.idleCost(p.rest)
	for _, c := range p.best {
		p.gap += p.columns[c].regret
	}
}

// sharpen takes the nudges back: it moves the last vertex to where its planes
// meet for the values as given, and takes these prices if their bound is lower.
func (p *Program) sharpen() {
	p.bound = p.weigh(p.prices, given)
	for r := range p.planes {
		if e := &p.planes[r]; e.k < 0 {
			e.at = p.columns[e.a].value - p.columns[e.b].value
		}
	}
	if !p.meet() {
		return
	}
	for k, x := range p.vertex {
		if b := &p.bars[k]; x < b.low*(1-hair) || x > b.high*(1+hair) {
			return
		}
	}
	if d := p.weigh(p.vertex, given); d < p.bound {
		p.bound = d
		copy(p.prices, p.vertex)
	}
}

// given and nudged are the two values of a column.
func given(c *column) float64  { return c.value }
func nudged(c *column) float64 { return c.lp }

// weigh fills the regrets at the prices and returns the bound.
func (p *Program) weigh(prices []float64, value func(*column) float64) (bound float64) {
	bound = p.others
	for k, b := range p.spare {
		bound += b * prices[k]
	}
	for i := range p.entrants {
		e := &p.entrants[i]
		best := math.Inf(-1)
		for c := e.first; c < e.end; c++ {
			col := &p.columns[c]
			col.regret = value(col) - p.cost(col, prices)
			best = max(best, col.regret)
		}
		for c := e.first; c < e.end; c++ {
			p.columns[c].regret = best - p.columns[c].regret
		}
		bound += best
	}
	return bound
}

// assign gives the entrants what the others leave. It reports false if the
// others take too much, or leave nothing for an item that must be served, while
// a wider window would have more entrants.
func (p *Program) assign() bool {
	p.rest = append(p.rest[:0], p.spare...)
	p.best = sized(p.best, len(p.entrants))
	if !p.whole && slices.Min(p.rest) < 0 {
		return false
	}
	p.weigh(p.walked, nudged)
	p.arrange()
	for _, e := range p.order {
		c := p.cheapestFitting(e)
		if p.columns[c].regret > 0 {
			c = p.outside(e, c)
		}
		p.best[e] = c
		p.use(&p.columns[c], p.rest, -1)
		if p.entrants[e].must && p.columns[c].id == none && !p.whole {
			return false
		}
	}
	p.fill()
	for e, c := range p.best {
		p.items[p.entrants[e].slot].taken = p.columns[c].id
	}
	return true
}

// arrange fills the order of rounding: items that must be served first, then
// those whose second best column is worst; the undecided ones come last and
// fill what is left.
func (p *Program) arrange() {
	p.order = p.order[:0]
	for i := range p.entrants {
		e := &p.entrants[i]
		least := math.Inf(1)
		e.second = least
		for c := e.first; c < e.end; c++ {
			if x := p.columns[c].regret; x < least {
				least, e.second = x, least
			} else {
				e.second = min(e.second, x)
			}
		}
		p.order = append(p.order, int32(i))
	}
	slices.SortFunc(p.order, func(a, b int32) int {
		x, y := &p.entrants[a], &p.entrants[b]
		return decidedFirst(x.must, y.must, x.second, y.second, x.rank, y.rank)
	})
}

// decidedFirst compares two items by must, regret of the second best column,
// and rank.
func decidedFirst(must, other bool, second, others float64, rank, rival uint32) int {
	if must != other {
		if must {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(others, second), cmp.Compare(rank, rival))
}

// cheapestFitting returns the column of an entrant of least regret that fits
// into the rest; "none" always does.
func (p *Program) cheapestFitting(e int32) int32 {
	best := p.entrants[e].first
	for c := best + 1; c < p.entrants[e].end; c++ {
		if p.columns[c].regret < p.columns[best].regret && p.fitsInto(&p.columns[c], p.rest) {
			best = c
		}
	}
	return best
}

// outside returns the column of an entrant of least regret that fits into the
// rest, if one has less than c; a window has few that are not best.
func (p *Program) outside(e, c int32) int32 {
	first, amounts, best := len(p.columns), len(p.amounts), -1
	p.list(p.entrants[e].slot, p.columns[c].regret)
	for i := first; i < len(p.columns); i++ {
		if (best < 0 || p.columns[i].regret < p.columns[best].regret) && p.fitsInto(&p.columns[i], p.rest) {
			best = i
		}
	}
	if best < 0 {
		p.columns, p.amounts = p.columns[:first], p.amounts[:amounts]
		return c
	}
	p.columns[first] = p.columns[best]
	p.columns = p.columns[:first+1]
	return int32(first)
}

// fill lets entrants move to a more valuable column while one fits, the
// undecided ones first.
func (p *Program) fill() {
	for _, e := range slices.Backward(p.order) {
		now := p.best[e]
		p.use(&p.columns[now], p.rest, 1)
		for c := p.entrants[e].first; c < p.entrants[e].end; c++ {
			if p.columns[c].value > p.columns[now].value && p.fitsInto(&p.columns[c], p.rest) {
				now = c
			}
		}
		p.best[e] = now
		p.use(&p.columns[now], p.rest, -1)
	}
}

// idleCost returns what the rest would bring at the prices.
func (p *Program) idleCost(rest []float64) float64 {
	total := 0.0
	for k, b := range rest {
		total += b * p.prices[k]
	}
	return total
}

// loosen makes the window wider than the search for prices had it, for the n-th
// time, and reports false if that is too wide.
func (p *Program) loosen(n int) bool {
	switch {
	case p.whole:
		return false
	case n < 4:
		for k := range p.bars {
			b := &p.bars[k]
			wide := 8 * max(b.high-b.middle, b.middle-b.low)
			b.low, b.high = max(0, b.middle-wide), b.middle+wide
			b.below, b.above = b.low, b.high
		}
		return p.scan()
	}
	for k, x := range p.prices {
		p.bars[k] = bar{middle: x, high: math.MaxFloat64, above: math.MaxFloat64}
	}
	p.whole = true
	return p.scan()
}

// recenter puts the middle of the window at the prices.
func (p *Program) recenter() {
	for k, x := range p.prices {
		p.bars[k].middle = x
	}
}

// serve makes a solution of a program whose others take too much, which happens
// if prices are far from the lowest bound: one item after the other takes its
// best column that fits, those that must first. No item is left in the window.
func (p *Program) serve() {
	p.rest = append(p.rest[:0], p.capacity...)
	p.entrants, p.columns, p.amounts, p.best = p.entrants[:0], p.columns[:0], p.amounts[:0], p.best[:0]
	p.others = 0
	order := p.byRank()
	for _, must := range [2]bool{true, false} {
		for _, i := range order {
			if p.items[i].must == must {
				p.serveItem(i)
			}
		}
	}
	copy(p.spare, p.rest)
}

// serveItem gives an item the column of the highest worth that fits.
func (p *Program) serveItem(i int32) {
	x, r := &p.items[i], &p.rows[i]
	first, amounts := len(p.columns), len(p.amounts)
	p.list(i, math.Inf(1))
	best := -1
	for c := first; c < len(p.columns); c++ {
		if (best < 0 || p.columns[c].regret < p.columns[best].regret) && p.fitsInto(&p.columns[c], p.rest) {
			best = c
		}
	}
	x.taken = none
	if best >= 0 && p.columns[best].id != none {
		x.taken = p.columns[best].id
		p.use(&p.columns[best], p.rest, -1)
		p.others += x.worth(r, x.taken)
	} else if x.must {
		p.others -= p.penalty
	}
	p.columns, p.amounts = p.columns[:first], p.amounts[:amounts]
}
