package mmkp

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp/internal/core"
)

func (p *Program) setRanges() {
	p.core.Ranges = sized(p.core.Ranges, p.core.K)
	p.whole = false
	for k, x := range p.core.Prices {
		b := core.Range{Middle: x, Low: max(0, x-p.radius[k]), High: x + p.radius[k]}
		b.Below, b.Above = b.Low*(1-2*core.Nudge), b.High*(1+2*core.Nudge)
		p.core.Ranges[k] = b
	}
}

// setAllRanges makes the ranges as wide as useful.
func (p *Program) setAllRanges() {
	for k, x := range p.core.Prices {
		p.core.Ranges[k] = core.Range{Middle: x, High: math.MaxFloat64, Above: math.MaxFloat64}
	}
	p.scan()
	p.whole = true
	for k := range p.core.Ranges {
		b := &p.core.Ranges[k]
		b.High = 0
	}
	for _, e := range p.core.Items {
		for c := e.First + 1; c < e.End; c++ {
			p.raise(&p.core.Columns[c], p.core.Columns[c].Nudged-p.core.Columns[e.First].Nudged)
		}
	}
	for k := range p.core.Ranges {
		p.core.Prices[k] = min(p.core.Prices[k], p.core.Ranges[k].High)
		p.core.Ranges[k].Middle = p.core.Prices[k]
	}
}

// raise extends the ranges to the prices at which c is no longer worth taking.
func (p *Program) raise(c *core.Column, worth float64) {
	if c.Resource != core.Several {
		if c.Amount > 0 {
			p.core.Ranges[c.Resource].High = max(p.core.Ranges[c.Resource].High, 1.001*worth/c.Amount)
		}
		return
	}
	for _, u := range p.core.Amounts[c.First:c.End] {
		p.core.Ranges[u.Resource].High = max(p.core.Ranges[u.Resource].High, 1.001*worth/u.Amount)
	}
}

// widest is the maximum number of columns of a core.
const widest = 1 << 20

// scan passes over the items and fills the core. It reports false if the core would be too large.
func (p *Program) scan() bool {
	p.core.Items, p.core.Columns, p.core.Amounts = p.core.Items[:0], p.core.Columns[:0], p.core.Amounts[:0]
	p.core.Spare = append(p.core.Spare[:0], p.core.Capacity...)
	p.core.Others = 0
	for i := range p.items {
		x := &p.items[i]
		if !x.live {
			continue
		}
		if worth, active := p.look(int32(i), x); active {
			if p.enter(int32(i), x, worth); len(p.core.Columns) > widest {
				return false
			}
		}
	}
	if !slices.IsSortedFunc(p.core.Items, byRank) {
		slices.SortFunc(p.core.Items, byRank)
	}
	return true
}

func byRank(a, b core.Item) int { return cmp.Compare(a.Rank, b.Rank) }

type leader struct {
	worth  float64 // highest, in the middle of the ranges
	sure   float64 // least worth of that column in the ranges
	least  float64 // highest least worth of any column in the ranges
	most   float64 // largest worth of the leading column in the ranges
	second float64 // largest worth of any other column in the ranges
}

// see adds a column, by its worth in the middle and its bounds, and reports whether it leads.
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

// look finds an item's best column in the middle of the ranges. If it is best everywhere in them, the item counts
// among the others. Otherwise the item is active; least is a worth that some column has everywhere. Groups keep their
// corner, so that a small move of prices costs little.
func (p *Program) look(i int32, x *item) (least float64, active bool) {
	l := leader{second: math.Inf(-1)}
	if x.must {
		l.worth = -p.penalty
	}
	start := l.worth
	l.sure, l.least, l.most = start, start, start
	taken, on, single := none, int32(0), true
	value, amount := start, 0.0
	if x.kept != none && x.keptResource != core.Several {
		b, a := &p.core.Ranges[x.keptResource], x.keptAmount
		worth := x.keptValue - b.Middle*a
		if l.see(worth, worth-(b.High-b.Middle)*a, worth+(b.Middle-b.Low)*a) {
			taken, on, value, amount = x.kept, x.keptResource, x.keptValue, a
		}
	}
	for g := x.group; g < x.group+x.groups; g++ {
		at := &p.groups[g]
		b := &p.core.Ranges[at.resource]
		if q := b.Middle * x.inverse; q < at.low || q > at.high {
			r := &p.rows[i]
			r.settle(&r.runs[g-x.group], at, q)
		}
		alone := b.Below*x.inverse >= at.low && b.Above*x.inverse <= at.high
		if alone && at.at == x.kept {
			continue
		}
		v := x.base + x.factor*at.value
		worth := v - b.Middle*at.amount
		most := worth + (b.Middle-b.Low)*at.amount
		if !alone {
			most = p.peak(i, x, g)
		}
		if l.see(worth, worth-(b.High-b.Middle)*at.amount, most) {
			taken, on, value, amount, single = at.at, at.resource, v, at.amount, alone
		}
	}
	if x.bundles > 0 {
		if c, v := p.lookAtBundles(i, x, &l); c != none {
			taken, on, value, single = c, core.Several, v, true
		}
	}
	x.taken = taken
	if !single || l.second+3*core.Nudge*x.size > l.sure {
		return l.least, true
	}
	p.core.Others += value
	if on != core.Several {
		p.core.Spare[on] -= amount
	} else {
		core.Deduct(p.core.Spare, p.rows[i].usesOf(taken))
	}
	return l.least, false
}

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
			b := &p.core.Ranges[u.Resource]
			worth -= b.Middle * u.Amount
			least -= b.High * u.Amount
			most -= b.Low * u.Amount
		}
		if l.see(worth, least, most) {
			taken, value = c, v
		}
	}
	return taken, value
}

// peak returns the worth of the best corner of group g at the low end of the ranges.
func (p *Program) peak(i int32, x *item, g int32) float64 {
	r, at := &p.rows[i], &p.groups[g]
	u, b := &r.runs[g-x.group], &p.core.Ranges[at.resource]
	c := at.at
	for up := r.next(u, c); up < u.live && r.slope(c, up) > b.Below*x.inverse; up = r.next(u, c) {
		c = up
	}
	return x.base + x.factor*r.points[c].value - b.Low*r.amount(c)
}

// enter adds an item to the core, with the columns whose worth can reach least.
func (p *Program) enter(i int32, x *item, least float64) {
	r := &p.rows[i]
	e := core.Item{Slot: i, First: int32(len(p.core.Columns)), Rank: x.rank, Must: x.must}
	start := 0.0
	if x.must {
		start = -p.penalty
	}
	least -= 3 * core.Nudge * x.size
	p.core.Columns = append(p.core.Columns, core.Column{Value: start, Nudged: start, ID: none})
	if x.kept != none && x.keptResource != core.Several {
		p.offer(x, r, x.kept, x.keptResource, start, least)
	}
	for g := range x.groups {
		u, at := &r.runs[g], &p.groups[x.group+g]
		b := &p.core.Ranges[u.resource]
		if math.IsInf(at.value, -1) {
			continue
		}
		c := at.at
		for down := r.previous(u, c); down >= u.first && r.slope(down, c) < b.Above*x.inverse; down = r.previous(u, c) {
			c = down
		}
		for {
			if c != x.kept {
				p.offer(x, r, c, u.resource, start, least)
			}
			up := r.next(u, c)
			if up >= u.live || r.slope(c, up) <= b.Below*x.inverse {
				break
			}
			c = up
		}
	}
	for n := range r.bundles {
		if r.bundles[n].fits {
			p.offer(x, r, int32(len(r.points)+n), core.Several, start, least)
		}
	}
	e.End = int32(len(p.core.Columns))
	p.core.Items = append(p.core.Items, e)
}

// offer adds a column of an item if it is worth more than nothing, and can reach least.
func (p *Program) offer(x *item, r *row, id, resource int32, start, least float64) {
	c := core.Column{Value: x.worth(r, id), Resource: resource, ID: id}
	most := c.Value
	if resource == core.Several {
		c.First = int32(len(p.core.Amounts))
		for _, u := range r.usesOf(id) {
			most -= p.core.Ranges[u.Resource].Low * u.Amount
		}
	} else {
		c.Amount = r.amount(id)
		most -= p.core.Ranges[resource].Low * c.Amount
	}
	if c.Value <= start || most < least {
		return
	}
	key := resource
	if resource == core.Several {
		p.core.Amounts = append(p.core.Amounts, r.usesOf(id)...)
		c.End = int32(len(p.core.Amounts))
		key = int32(p.core.K) + r.bundles[int(id)-len(r.points)].choice
	}
	c.Nudged = p.nudge(c.Value, x.rank, key)
	p.core.Columns = append(p.core.Columns, c)
}

// nudge raises a value by at most a relative 1e-6, less from item to item. So among equal items the first is served
// first. Equal items also change their best column at different prices, so that a vertex of the bound has only as
// many ties as resources. The hash prevents equal prices of other items by chance. Bound and regrets use the values
// as given.
func (p *Program) nudge(v float64, rank uint32, key int32) float64 {
	h := uint64(rank)*0x9e3779b97f4a7c15 + uint64(key)*0xbf58476d1ce4e5b9
	h = (h ^ p.opts.Ties ^ h>>31) * 0x94d049bb133111eb
	if p.opts.Ties != 0 {
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		return v + math.Abs(v)*core.Nudge*float64(h>>11)/(1<<53)
	}
	part := float64(h>>11) / (1 << 53)
	return v + math.Abs(v)*core.Nudge*(float64(p.span-1-rank)+part)/float64(p.span)
}

func (x *item) worth(r *row, c int32) float64 {
	if c == x.kept {
		return x.keptValue
	}
	return x.base + x.factor*r.value(c)
}

func (r *row) usesOf(c int32) []core.Use {
	b := &r.bundles[int(c)-len(r.points)]
	return r.uses[b.first:b.end]
}
