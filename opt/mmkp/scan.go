package mmkp

import (
	"cmp"
	"math"
	"slices"
)

// A scanner passes over the items. It fills the core with those whose best column may change within the ranges of
// prices, and lists the columns of one item at the prices.
type scanner struct {
	call *call
	core *coreProblem
	inv  *inventory

	whole   bool    // the core's ranges contain every price at which a resource is used
	penalty float64 // value lost if an item that must be served is not; beyond any other loss
}

func (sc *scanner) setAllRanges() {
	for k, x := range sc.core.Prices {
		sc.core.Ranges[k] = priceRange{Middle: x, High: math.MaxFloat64, Above: math.MaxFloat64}
	}
	sc.scan()
	sc.whole = true
	for k := range sc.core.Ranges {
		b := &sc.core.Ranges[k]
		b.High = 0
	}
	for _, e := range sc.core.Items {
		for c := e.First + 1; c < e.End; c++ {
			sc.raise(&sc.core.Columns[c], sc.core.Columns[c].Nudged-sc.core.Columns[e.First].Nudged)
		}
	}
	for k := range sc.core.Ranges {
		sc.core.Prices[k] = min(sc.core.Prices[k], sc.core.Ranges[k].High)
		sc.core.Ranges[k].Middle = sc.core.Prices[k]
	}
}

func (sc *scanner) raise(c *column, worth float64) {
	if c.Resource != several {
		if c.Amount > 0 {
			sc.core.Ranges[c.Resource].High = max(sc.core.Ranges[c.Resource].High, 1.001*worth/c.Amount)
		}
		return
	}
	for _, u := range sc.core.Amounts[c.First:c.End] {
		sc.core.Ranges[u.Resource].High = max(sc.core.Ranges[u.Resource].High, 1.001*worth/u.Amount)
	}
}

const widest = 1 << 20

func (sc *scanner) scan() bool {
	sc.core.Items, sc.core.Columns, sc.core.Amounts = sc.core.Items[:0], sc.core.Columns[:0], sc.core.Amounts[:0]
	sc.core.Spare = append(sc.core.Spare[:0], sc.core.Capacity...)
	sc.core.Others = 0
	for i := range sc.inv.items {
		x := &sc.inv.items[i]
		if !x.live {
			continue
		}
		if worth, active := sc.look(int32(i), x); active {
			if sc.enter(int32(i), x, worth); len(sc.core.Columns) > widest {
				return false
			}
		}
	}
	if !slices.IsSortedFunc(sc.core.Items, byRank) {
		slices.SortFunc(sc.core.Items, byRank)
	}
	return true
}

func byRank(a, b coreItem) int { return cmp.Compare(a.Rank, b.Rank) }

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
func (sc *scanner) look(i int32, x *item) (least float64, active bool) {
	l := leader{second: math.Inf(-1)}
	if x.must {
		l.worth = -sc.penalty
	}
	start := l.worth
	l.sure, l.least, l.most = start, start, start
	ranges, groups := sc.core.Ranges, sc.inv.groups[x.group:x.group+x.groups]
	taken, on, single := none, int32(0), true
	value, amount := start, 0.0
	if x.kept != none && x.keptResource != several {
		b, a := &ranges[x.keptResource], x.keptAmount
		worth := x.keptValue - b.Middle*a
		if l.see(worth, worth-(b.High-b.Middle)*a, worth+(b.Middle-b.Low)*a) {
			taken, on, value, amount = x.kept, x.keptResource, x.keptValue, a
		}
	}
	for g := range groups {
		at := &groups[g]
		b := &ranges[at.resource]
		if q := b.Middle * x.inverse; q < at.low || q > at.high {
			r := &sc.inv.rows[i]
			r.settle(&r.runs[g], at, q)
		}
		alone := b.Below*x.inverse >= at.low && b.Above*x.inverse <= at.high
		if alone && at.at == x.kept {
			continue
		}
		v := x.base + x.factor*at.value
		worth := v - b.Middle*at.amount
		most := worth + (b.Middle-b.Low)*at.amount
		if !alone {
			most = sc.peak(i, x, at, g)
		}
		if l.see(worth, worth-(b.High-b.Middle)*at.amount, most) {
			taken, on, value, amount, single = at.at, at.resource, v, at.amount, alone
		}
	}
	if x.bundles > 0 {
		if c, v := sc.lookAtBundles(i, x, &l); c != none {
			taken, on, value, single = c, several, v, true
		}
	}
	x.taken = taken
	if !single || l.second+3*nudge*x.size > l.sure {
		return l.least, true
	}
	sc.core.Others += value
	if on != several {
		sc.core.Spare[on] -= amount
	} else {
		deduct(sc.core.Spare, sc.inv.rows[i].usesOf(taken))
	}
	return l.least, false
}

func (sc *scanner) lookAtBundles(i int32, x *item, l *leader) (taken int32, value float64) {
	r := &sc.inv.rows[i]
	taken = none
	for n := range r.bundles {
		if !r.bundles[n].fits {
			continue
		}
		c := int32(len(r.points) + n)
		v := x.worth(r, c)
		worth, least, most := v, v, v
		for _, u := range r.usesOf(c) {
			b := &sc.core.Ranges[u.Resource]
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

// peak returns the worth of the best corner of an item's g-th group, at the low end of the ranges.
func (sc *scanner) peak(i int32, x *item, at *group, g int) float64 {
	r := &sc.inv.rows[i]
	u, b := &r.runs[g], &sc.core.Ranges[at.resource]
	c := at.at
	for up := r.next(u, c); up < u.live && r.slope(c, up) > b.Below*x.inverse; up = r.next(u, c) {
		c = up
	}
	return x.base + x.factor*r.points[c].value - b.Low*r.amount(c)
}

func (sc *scanner) enter(i int32, x *item, least float64) {
	r := &sc.inv.rows[i]
	e := coreItem{Slot: i, First: int32(len(sc.core.Columns)), Rank: x.rank, Must: x.must}
	start := 0.0
	if x.must {
		start = -sc.penalty
	}
	least -= 3 * nudge * x.size
	sc.core.Columns = append(sc.core.Columns, column{Value: start, Nudged: start, ID: none})
	if x.kept != none && x.keptResource != several {
		sc.offer(x, r, x.kept, x.keptResource, start, least)
	}
	for g := range x.groups {
		u, at := &r.runs[g], &sc.inv.groups[x.group+g]
		b := &sc.core.Ranges[u.resource]
		if math.IsInf(at.value, -1) {
			continue
		}
		c := at.at
		for down := r.previous(u, c); down >= u.first && r.slope(down, c) < b.Above*x.inverse; down = r.previous(u, c) {
			c = down
		}
		for {
			if c != x.kept {
				sc.offer(x, r, c, u.resource, start, least)
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
			sc.offer(x, r, int32(len(r.points)+n), several, start, least)
		}
	}
	e.End = int32(len(sc.core.Columns))
	sc.core.Items = append(sc.core.Items, e)
}

// offer adds a column of an item if it is worth more than nothing, and can reach least.
func (sc *scanner) offer(x *item, r *row, id, resource int32, start, least float64) {
	c := column{Value: x.worth(r, id), Resource: resource, ID: id}
	most := c.Value
	if resource == several {
		c.First = int32(len(sc.core.Amounts))
		for _, u := range r.usesOf(id) {
			most -= sc.core.Ranges[u.Resource].Low * u.Amount
		}
	} else {
		c.Amount = r.amount(id)
		most -= sc.core.Ranges[resource].Low * c.Amount
	}
	if c.Value <= start || most < least {
		return
	}
	key := resource
	if resource == several {
		sc.core.Amounts = append(sc.core.Amounts, r.usesOf(id)...)
		c.End = int32(len(sc.core.Amounts))
		key = int32(sc.core.K) + r.bundles[int(id)-len(r.points)].choice
	}
	c.Nudged = sc.nudge(c.Value, x.rank, key)
	sc.core.Columns = append(sc.core.Columns, c)
}

// nudge raises a value by at most a relative 1e-6, less from item to item. So among equal items the first is served
// first. Equal items also change their best column at different prices, so that a vertex of the bound has only as
// many ties as resources. The hash prevents equal prices of other items by chance. Bound and regrets use the values
// as given.
func (sc *scanner) nudge(v float64, rank uint32, key int32) float64 {
	h := uint64(rank)*0x9e3779b97f4a7c15 + uint64(key)*0xbf58476d1ce4e5b9
	h = (h ^ sc.call.opts.Ties ^ h>>31) * 0x94d049bb133111eb
	if sc.call.opts.Ties != 0 {
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		return v + math.Abs(v)*nudge*float64(h>>11)/(1<<53)
	}
	part := float64(h>>11) / (1 << 53)
	return v + math.Abs(v)*nudge*(float64(sc.inv.span-1-rank)+part)/float64(sc.inv.span)
}

func (x *item) worth(r *row, c int32) float64 {
	if c == x.kept {
		return x.keptValue
	}
	return x.base + x.factor*r.value(c)
}

func (r *row) usesOf(c int32) []Use {
	b := &r.bundles[int(c)-len(r.points)]
	return r.uses[b.first:b.end]
}

// loosen widens the ranges beyond the search for prices, for the n-th time, and reports false if that makes the core
// too large.
func (sc *scanner) loosen(n int) bool {
	switch {
	case sc.whole:
		return false
	case n < 4:
		for k := range sc.core.Ranges {
			b := &sc.core.Ranges[k]
			wide := 8 * max(b.High-b.Middle, b.Middle-b.Low)
			b.Low, b.High = max(0, b.Middle-wide), b.Middle+wide
			b.Below, b.Above = b.Low, b.High
		}
		return sc.scan()
	}
	for k, x := range sc.core.Prices {
		sc.core.Ranges[k] = priceRange{Middle: x, High: math.MaxFloat64, Above: math.MaxFloat64}
	}
	sc.whole = true
	return sc.scan()
}

func (sc *scanner) recenter() {
	for k, x := range sc.core.Prices {
		sc.core.Ranges[k].Middle = x
	}
}

func (sc *scanner) list(i int32, limit float64) {
	x, r := &sc.inv.items[i], &sc.inv.rows[i]
	start := 0.0
	if x.must {
		start = -sc.penalty
	}
	best := sc.highest(x, r, start)
	if best-start < limit {
		sc.core.Columns = append(sc.core.Columns, column{Value: start, Regret: best - start, ID: none})
	}
	if x.kept != none && x.keptResource != several {
		sc.listOne(x, r, x.kept, x.keptResource, best, start, limit)
	}
	for g := range x.groups {
		u, at := &r.runs[g], &sc.inv.groups[x.group+g]
		if math.IsInf(at.value, -1) {
			continue
		}
		for c := at.at; c < u.live; c++ {
			if c != x.kept && sc.listOne(x, r, c, u.resource, best, start, limit) {
				break
			}
		}
		for c := at.at - 1; c >= u.first; c-- {
			if c != x.kept && sc.listOne(x, r, c, u.resource, best, start, limit) {
				break
			}
		}
	}
	for n := range r.bundles {
		if r.bundles[n].fits {
			sc.listOne(x, r, int32(len(r.points)+n), several, best, start, limit)
		}
	}
}

// listOne appends a column if its regret is below the limit and it is worth more than nothing. It reports whether the
// columns beyond it on the hull are worse.
func (sc *scanner) listOne(x *item, r *row, id, resource int32, best, start, limit float64) (worse bool) {
	c := column{Value: x.worth(r, id), Resource: resource, ID: id}
	c.Regret = best - c.Value
	if resource == several {
		uses := r.usesOf(id)
		for _, u := range uses {
			c.Regret += sc.core.Prices[u.Resource] * u.Amount
		}
		if c.Regret < limit {
			c.First = int32(len(sc.core.Amounts))
			sc.core.Amounts = append(sc.core.Amounts, uses...)
			c.End = int32(len(sc.core.Amounts))
		}
	} else {
		c.Amount = r.amount(id)
		c.Regret += sc.core.Prices[resource] * c.Amount
	}
	if c.Regret >= limit {
		return resource != several && r.points[id].corner()
	}
	if c.Value > start {
		sc.core.Columns = append(sc.core.Columns, c)
	}
	return false
}

// highest returns the worth of an item's best column at the prices, and moves its groups there.
func (sc *scanner) highest(x *item, r *row, start float64) float64 {
	best := start
	if x.kept != none && x.keptResource != several {
		best = max(best, x.keptValue-sc.core.Prices[x.keptResource]*x.keptAmount)
	}
	for g := range x.groups {
		at := &sc.inv.groups[x.group+g]
		price := sc.core.Prices[at.resource]
		r.settle(&r.runs[g], at, price*x.inverse)
		best = max(best, x.base+x.factor*at.value-price*at.amount)
	}
	for n := range r.bundles {
		if r.bundles[n].fits {
			c := int32(len(r.points) + n)
			w := x.worth(r, c)
			for _, u := range r.usesOf(c) {
				w -= sc.core.Prices[u.Resource] * u.Amount
			}
			best = max(best, w)
		}
	}
	return best
}
