package mmkp

import (
	"cmp"
	"math"
	"slices"
)

type builder struct {
	points  []point
	amounts []float64
	exact   bool
	runs    []run
	bundles []bundle
	uses    []Use
	loose   []loose
	beaten  []bool
	least   []Use
	low     float64
	high    float64
	ordered bool

	keep      int
	top, last float64 // value and amount of the run's best point
}

type loose struct {
	value, amount float64
	resource      int32
	choice        int32
}

func (b *builder) load(it *Item, resources int) error {
	if it.Must && len(it.Choices) == 0 {
		return errNothing
	}
	b.reset(it)
	b.ordered = true
	resource := -1
	for j := range it.Choices {
		c := &it.Choices[j]
		if c.Resource == resource && c.Amount > b.last && c.Amount <= largest && len(c.More) == 0 {
			switch {
			case c.Value <= b.top && c.Value >= -largest && j != b.keep:
				continue
			case c.Value > b.top && c.Value <= largest:
				b.add(c.Value, c.Amount, j)
				continue
			}
		}
		if !c.plain(resources) {
			return c.complain(j, resources)
		}
		if !b.take(c, j) {
			if err := b.sort(it, resources); err != nil {
				return err
			}
			break
		}
		if n := len(b.runs); n > 0 {
			resource = int(b.runs[n-1].resource)
		}
	}
	b.close()
	b.thin()
	b.findLeast(it)
	return nil
}

func (b *builder) reset(it *Item) {
	b.points, b.amounts, b.runs = b.points[:0], b.amounts[:0], b.runs[:0]
	b.bundles, b.uses = b.bundles[:0], b.uses[:0]
	b.exact, b.keep = true, it.Keep
	b.low, b.high = math.Inf(1), math.Inf(-1)
	b.top, b.last = math.Inf(-1), 0
}

func (b *builder) take(c *Choice, j int) bool {
	u, ok := b.single(c, j)
	return !ok || b.put(u, c.Value, j)
}

// single returns the only use of choice j. If there are several it adds a bundle, and ok is false.
func (b *builder) single(c *Choice, j int) (u Use, ok bool) {
	u = c.Use
	if len(c.More) > 0 {
		first := len(b.uses)
		b.gather(c)
		if len(b.uses) > first+1 {
			b.high = max(b.high, c.Value)
			b.bundles = append(b.bundles, bundle{value: c.Value, choice: int32(j), first: int32(first), end: int32(len(b.uses))})
			return u, false
		}
		u = Use{}
		if len(b.uses) > first {
			u = b.uses[first]
		}
		b.uses = b.uses[:first]
	}
	if u.Amount == 0 {
		u.Resource = 0
	}
	return u, true
}

func (b *builder) gather(c *Choice) {
	first := len(b.uses)
	add := func(u Use) {
		if u.Amount == 0 {
			return
		}
		for i := first; i < len(b.uses); i++ {
			if b.uses[i].Resource == u.Resource {
				b.uses[i].Amount += u.Amount
				return
			}
		}
		b.uses = append(b.uses, u)
	}
	add(c.Use)
	for _, u := range c.More {
		add(u)
	}
}

func (b *builder) put(u Use, value float64, j int) bool {
	n := len(b.runs)
	switch {
	case n == 0 || u.Resource > int(b.runs[n-1].resource):
		at := int32(len(b.points))
		b.runs = append(b.runs, run{first: at, end: at, resource: int32(u.Resource)})
		b.high = max(b.high, b.top)
		b.top, b.last, n = math.Inf(-1), 0, n+1
	case u.Resource < int(b.runs[n-1].resource) || u.Amount < b.last:
		return false
	}
	if value <= b.top && j != b.keep {
		return true
	}
	if top := len(b.points) - 1; value > b.top && u.Amount == b.last && top >= int(b.runs[n-1].first) && int(b.points[top].index()) != b.keep {
		b.points, b.amounts = b.points[:top], b.amounts[:top]
	}
	b.add(value, u.Amount, j)
	return true
}

func (b *builder) add(value, amount float64, j int) {
	short := float32(amount)
	b.exact = b.exact && float64(short) == amount
	b.points = append(b.points, point{value, short, int32(j)})
	b.amounts = append(b.amounts, amount)
	b.top, b.last = max(b.top, value), amount
}

func (b *builder) close() {
	end := int32(len(b.points))
	for i := len(b.runs) - 1; i >= 0; i-- {
		b.runs[i].end = end
		end = b.runs[i].first
	}
	b.high = max(b.high, b.top)
}

func (b *builder) sort(it *Item, resources int) error {
	b.reset(it)
	b.ordered, b.loose = false, b.loose[:0]
	for j := range it.Choices {
		c := &it.Choices[j]
		if !c.plain(resources) {
			return c.complain(j, resources)
		}
		if u, ok := b.single(c, j); ok {
			b.loose = append(b.loose, loose{c.Value, u.Amount, int32(u.Resource), int32(j)})
		}
	}
	slices.SortFunc(b.loose, func(x, y loose) int {
		return cmp.Or(cmp.Compare(x.resource, y.resource), cmp.Compare(x.amount, y.amount),
			-cmp.Compare(x.value, y.value), cmp.Compare(x.choice, y.choice))
	})
	for _, l := range b.loose {
		b.put(Use{Resource: int(l.resource), Amount: l.amount}, l.value, int(l.choice))
	}
	return nil
}

// nearby limits the comparisons of thin, so that its time is linear.
const nearby = 64

func (b *builder) thin() {
	b.beaten = sized(b.beaten, len(b.bundles))
	for i := range b.bundles {
		b.beaten[i] = int(b.bundles[i].choice) != b.keep && (b.pointBeats(i) || b.bundleBeats(i))
	}
	n := 0
	for i, x := range b.bundles {
		if !b.beaten[i] {
			b.bundles[n] = x
			n++
		}
	}
	b.bundles = b.bundles[:n]
}

func (b *builder) pointBeats(i int) bool {
	x := &b.bundles[i]
	for _, u := range b.runs {
		most := amountOf(b.uses[x.first:x.end], int(u.resource))
		for c := u.first; c < u.end && b.amounts[c] <= most; c++ {
			if b.points[c].value >= x.value {
				return true
			}
		}
	}
	return false
}

// bundleBeats reports whether a nearby bundle dominates bundle i; of equal ones the first does.
func (b *builder) bundleBeats(i int) bool {
	x := &b.bundles[i]
	for j := max(0, i-nearby); j < min(len(b.bundles), i+nearby); j++ {
		y := &b.bundles[j]
		if j == i || y.value < x.value {
			continue
		}
		cheap, cheaper := true, j < i || y.value > x.value
		for _, u := range b.uses[y.first:y.end] {
			most := amountOf(b.uses[x.first:x.end], u.Resource)
			cheap, cheaper = cheap && u.Amount <= most, cheaper || u.Amount < most
		}
		if cheap && (cheaper || y.end-y.first < x.end-x.first) {
			return true
		}
	}
	return false
}

func (b *builder) findLeast(it *Item) {
	b.least = b.least[:0]
	if !it.Must {
		return
	}
	for j := range it.Choices {
		b.low = min(b.low, it.Choices[j].Value)
	}
	first := true
	limit := func(uses []Use) {
		if first {
			b.least = append(b.least, uses...)
			first = false
		}
		for i := range b.least {
			b.least[i].Amount = min(b.least[i].Amount, amountOf(uses, b.least[i].Resource))
		}
	}
	for _, u := range b.runs {
		limit([]Use{{Resource: int(u.resource), Amount: b.amounts[u.first]}})
	}
	for _, x := range b.bundles {
		limit(b.uses[x.first:x.end])
	}
}

func (b *builder) write(r *row, choices int) {
	r.points, r.runs = refill(r.points, b.points), refill(r.runs, b.runs)
	if b.exact {
		r.wide = r.wide[:0]
	} else {
		r.wide = refill(r.wide, b.amounts)
	}
	r.bundles, r.uses, r.least = refill(r.bundles, b.bundles), refill(r.uses, b.uses), refill(r.least, b.least)
	r.choices, r.ordered, r.low, r.high = choices, b.ordered, b.low, b.high
}

func refill[T any](old, from []T) []T {
	if cap(old) < len(from) || cap(old) > 2*len(from)+16 {
		old = make([]T, len(from))
	}
	old = old[:len(from)]
	copy(old, from)
	return old
}
