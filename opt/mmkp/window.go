package mmkp

import (
	"cmp"
	"math"
	"slices"
)

// A window is the program between two prices of every resource: the items that
// may change their minds there, each with the columns that can be its best. The
// other items take one column in the whole window and only count as a sum.
type window struct {
	bars     []bar
	whole    bool // every price at which a resource is used is inside
	entrants []entrant
	columns  []column
	amounts  []Use     // of the columns that use several resources
	spare    []float64 // capacity that the others leave
	others   float64   // value of the others' columns
	penalty  float64   // value lost if an item that must be served is not; beyond any other loss
}

// A bar is the window's width in one resource, and that a little wider, so that
// nudges do not lead out.
type bar struct {
	middle, low, high float64
	below, above      float64
}

// An entrant is an item in the window; "none" is its first column.
type entrant struct {
	slot       int32
	first, end int32 // in columns
	rank       uint32
	must       bool
	second     float64 // regret of the second best column
}

// A column is a choice of an item.
type column struct {
	value      float64 // what it is worth
	lp         float64 // what the prices see: moved by a hair, so that ties are rare
	amount     float64
	regret     float64 // what it lacks, at the final prices, of its item's best
	resource   int32   // or several
	id         int32   // in the row; none
	first, end int32   // in amounts
}

// hair is the relative amount by which values are nudged, at most.
const hair = 1e-6

// frame puts the window around the prices.
func (p *Program) frame() {
	p.bars = sized(p.bars, p.k)
	p.whole = false
	for k, x := range p.prices {
		b := bar{middle: x, low: max(0, x-p.radius[k]), high: x + p.radius[k]}
		b.below, b.above = b.low*(1-2*hair), b.high*(1+2*hair)
		p.bars[k] = b
	}
}

// frameAll makes the window as wide as it can be of use.
func (p *Program) frameAll() {
	for k, x := range p.prices {
		p.bars[k] = bar{middle: x, high: math.MaxFloat64, above: math.MaxFloat64}
	}
	p.scan()
	p.whole = true
	for k := range p.bars {
		b := &p.bars[k]
		b.high = 0
	}
	for _, e := range p.entrants {
		for c := e.first + 1; c < e.end; c++ {
			p.raise(&p.columns[c], p.columns[c].lp-p.columns[e.first].lp)
		}
	}
	for k := range p.bars {
		p.prices[k] = min(p.prices[k], p.bars[k].high)
		p.bars[k].middle = p.prices[k]
	}
}

// raise lifts the window to where nobody pays the prices of what c uses.
func (p *Program) raise(c *column, worth float64) {
	if c.resource != several {
		if c.amount > 0 {
			p.bars[c.resource].high = max(p.bars[c.resource].high, 1.001*worth/c.amount)
		}
		return
	}
	for _, u := range p.amounts[c.first:c.end] {
		p.bars[u.Resource].high = max(p.bars[u.Resource].high, 1.001*worth/u.Amount)
	}
}

// widest is the number of columns that a window has at most.
const widest = 1 << 20

// scan passes over the items and fills the window. It reports false if that
// would be too large.
func (p *Program) scan() bool {
	p.entrants, p.columns, p.amounts = p.entrants[:0], p.columns[:0], p.amounts[:0]
	p.spare = append(p.spare[:0], p.capacity...)
	p.others = 0
	for i := range p.items {
		x := &p.items[i]
		if !x.live {
			continue
		}
		if worth, active := p.look(int32(i), x); active {
			if p.enter(int32(i), x, worth); len(p.columns) > widest {
				return false
			}
		}
	}
	if !slices.IsSortedFunc(p.entrants, byRank) {
		slices.SortFunc(p.entrants, byRank)
	}
	return true
}

func byRank(a, b entrant) int { return cmp.Compare(a.rank, b.rank) }

// leader is what look knows of the columns it has seen.
type leader struct {
	worth  float64 // highest in the middle of the window
	sure   float64 // what that column is worth at least, anywhere
	least  float64 // the highest that any column is worth at least, anywhere
	most   float64 // the highest that any column is worth at most, anywhere
	second float64 // and the second highest
}

// see compares a column that is worth so much in the middle, at least and at
// most, and reports whether it leads.
func (l *leader) see(worth, least, most float64) bool {
	l.least = max(l.least, least)
	if worth <= l.worth {
		l.second = max(l.second, most)
		return false
	}
	l.second = max(l.second, l.most)
	l.worth, l.sure, l.most = worth, least, most
	return true
}

// look finds the column that is worth most to an item in the middle of the
// window. If it is so in the whole window the item counts among the others;
// else it is active, and some column is worth at least so much everywhere.
// Every group remembers where it was, so that a small move of prices costs
// little.
func (p *Program) look(i int32, x *item) (least float64, active bool) {
	l := leader{second: math.Inf(-1)}
	if x.must {
		l.worth = -p.penalty
	}
	start := l.worth
	l.sure, l.least, l.most = start, start, start
	taken, on, single := none, int32(0), true
	value, amount := start, 0.0
	if x.kept != none && x.keptResource != several {
		b, a := &p.bars[x.keptResource], x.keptAmount
		worth := x.keptValue - b.middle*a
		if l.see(worth, worth-(b.high-b.middle)*a, worth+(b.middle-b.low)*a) {
			taken, on, value, amount = x.kept, x.keptResource, x.keptValue, a
		}
	}
	for g := x.group; g < x.group+x.groups; g++ {
		at := &p.groups[g]
		b := &p.bars[at.resource]
		if q := b.middle * x.inverse; q < at.low || q > at.high {
			r := &p.rows[i]
			r.settle(&r.runs[g-x.group], at, q)
		}
		alone := b.below*x.inverse >= at.low && b.above*x.inverse <= at.high
		if alone && at.at == x.kept {
			continue // seen
		}
		v := x.base + x.factor*at.value
		worth := v - b.middle*at.amount
		most := worth + (b.middle-b.low)*at.amount
		if !alone {
			most = p.peak(i, x, g)
		}
		if l.see(worth, worth-(b.high-b.middle)*at.amount, most) {
			taken, on, value, amount, single = at.at, at.resource, v, at.amount, alone
		}
	}
	if x.bundles > 0 {
		if c, v := p.lookAtBundles(i, x, &l); c != none {
			taken, on, value, single = c, several, v, true
		}
	}
	x.taken = taken
	if !single || l.second+3*hair*x.size > l.sure {
		return l.least, true
	}
	p.others += value
	if on != several {
		p.spare[on] -= amount
	} else {
		deduct(p.spare, p.rows[i].usesOf(taken))
	}
	return l.least, false
}

// lookAtBundles shows the bundles of an item to the leader and returns the one
// that leads, if one does, and its value.
func (p *Program) lookAtBundles(i int32, x *item, l *leader) (taken int32, value float64) {
	r := &p.rows[i]
	taken = none
	for n := range r.bundles {
		if !r.bundles[n].fits {
			continue
		}
		c := int32(len(r.points) + n)
		v := x.worth(r, c)
		worth, least, most := v, v, v
		for _, u := range r.usesOf(c) {
			b := &p.bars[u.Resource]
			worth -= b.middle * u.Amount
			least -= b.high * u.Amount
			most -= b.low * u.Amount
		}
		if l.see(worth, least, most) {
			taken, value = c, v
		}
	}
	return taken, value
}

// peak returns what the best corner of group g of an item is worth at the low
// end of the window.
func (p *Program) peak(i int32, x *item, g int32) float64 {
	r, at := &p.rows[i], &p.groups[g]
	u, b := &r.runs[g-x.group], &p.bars[at.resource]
	c := at.at
	for up := r.next(u, c); up < u.live && r.slope(c, up) > b.below*x.inverse; up = r.next(u, c) {
		c = up
	}
	return x.base + x.factor*r.points[c].value - b.low*r.amount(c)
}

// enter adds an item to the window: its columns that can be worth the least
// that is sure.
func (p *Program) enter(i int32, x *item, least float64) {
	r := &p.rows[i]
	e := entrant{slot: i, first: int32(len(p.columns)), rank: x.rank, must: x.must}
	start := 0.0
	if x.must {
		start = -p.penalty
	}
	least -= 3 * hair * x.size
	p.columns = append(p.columns, column{value: start, lp: start, id: none})
	if x.kept != none && x.keptResource != several {
		p.offer(x, r, x.kept, x.keptResource, start, least)
	}
	for g := range x.groups {
		u, at := &r.runs[g], &p.groups[x.group+g]
		b := &p.bars[u.resource]
		if math.IsInf(at.value, -1) {
			continue
		}
		c := at.at
		for down := r.previous(u, c); down >= u.first && r.slope(down, c) < b.above*x.inverse; down = r.previous(u, c) {
			c = down
		}
		for {
			if c != x.kept {
				p.offer(x, r, c, u.resource, start, least)
			}
			up := r.next(u, c)
			if up >= u.live || r.slope(c, up) <= b.below*x.inverse {
				break
			}
			c = up
		}
	}
	for n := range r.bundles {
		if r.bundles[n].fits {
			p.offer(x, r, int32(len(r.points)+n), several, start, least)
		}
	}
	e.end = int32(len(p.columns))
	p.entrants = append(p.entrants, e)
}

// offer adds a column of an item if it is worth more than nothing, and can be
// worth the least.
func (p *Program) offer(x *item, r *row, id, resource int32, start, least float64) {
	c := column{value: x.worth(r, id), resource: resource, id: id}
	most := c.value
	if resource == several {
		c.first = int32(len(p.amounts))
		for _, u := range r.usesOf(id) {
			most -= p.bars[u.Resource].low * u.Amount
		}
	} else {
		c.amount = r.amount(id)
		most -= p.bars[resource].low * c.amount
	}
	if c.value <= start || most < least {
		return
	}
	key := resource
	if resource == several {
		p.amounts = append(p.amounts, r.usesOf(id)...)
		c.end = int32(len(p.amounts))
		key = int32(p.k) + r.bundles[int(id)-len(r.points)].choice
	}
	c.lp = p.nudge(c.value, x.rank, key)
	p.columns = append(p.columns, c)
}

// nudge raises a value by at most a relative 1e-6, less from item to item: of
// equal items the first is served first, and they do not change their minds at
// the same price, so that a vertex of the bound has as many ties as there are
// resources, and no more. The hash keeps different items from doing so by
// chance. Bound and regrets are computed from the values as given.
func (p *Program) nudge(v float64, rank uint32, key int32) float64 {
	h := uint64(rank)*0x9e3779b97f4a7c15 + uint64(key)*0xbf58476d1ce4e5b9 // odd multipliers of splitmix64
	h = (h ^ p.opts.Ties ^ h>>31) * 0x94d049bb133111eb
	if p.opts.Ties != 0 {
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		return v + math.Abs(v)*hair*float64(h>>11)/(1<<53)
	}
	part := float64(h>>11) / (1 << 53) // in [0, 1)
	return v + math.Abs(v)*hair*(float64(p.span-1-rank)+part)/float64(p.span)
}

// cost returns what column c costs at the given prices.
func (p *Program) cost(c *column, prices []float64) float64 {
	if c.resource != several {
		return prices[c.resource] * c.amount
	}
	total := 0.0
	for _, u := range p.amounts[c.first:c.end] {
		total += prices[u.Resource] * u.Amount
	}
	return total
}

// use adds sign times what column c uses to used.
func (p *Program) use(c *column, used []float64, sign float64) {
	if c.resource != several {
		used[c.resource] += sign * c.amount
		return
	}
	for _, u := range p.amounts[c.first:c.end] {
		used[u.Resource] += sign * u.Amount
	}
}

// uses returns what column c uses of resource k.
func (p *Program) uses(c *column, k int) float64 {
	switch {
	case c.resource == several:
		return usesOf(p.amounts[c.first:c.end], k)
	case int(c.resource) == k:
		return c.amount
	}
	return 0
}

// fitsInto reports whether column c fits into rest.
func (p *Program) fitsInto(c *column, rest []float64) bool {
	if c.resource != several {
		return c.amount == 0 || c.amount <= rest[c.resource]
	}
	return fits(p.amounts[c.first:c.end], rest)
}

// fits reports whether the uses fit into rest.
func fits(uses []Use, rest []float64) bool {
	for _, u := range uses {
		if u.Amount > rest[u.Resource] {
			return false
		}
	}
	return true
}

// deduct subtracts the uses from rest.
func deduct(rest []float64, uses []Use) {
	for _, u := range uses {
		rest[u.Resource] -= u.Amount
	}
}

// worth returns what column c of x is worth.
func (x *item) worth(r *row, c int32) float64 {
	if c == x.kept {
		return x.keptValue
	}
	return x.base + x.factor*r.value(c)
}

// usesOf returns the uses of column c, a bundle.
func (r *row) usesOf(c int32) []Use {
	b := &r.bundles[int(c)-len(r.points)]
	return r.uses[b.first:b.end]
}
