package mmkp

import (
	"cmp"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp/internal/core"
)

type search struct {
	nodes  int
	budget int
	status Status
	open   []undecided
	closed []undecided // one option each
	trail  []int32
	levels []float64 // capacity left, k per depth
	most   []float64 // most that the items from a depth on can use, k per depth
	least  []float64 // least that they must use
	seen   memo
}

// An undecided item and its options in Program.columns, by regret: only those that regret alone does not rule out.
type undecided struct {
	slot       int32
	first, end int32
	rank       uint32
	must       bool
	second     float64 // regret of the second option
}

// Limits on the options for improvements and for the search. With more than maxOptions in the whole program nothing
// is proven.
const (
	minNear    = 1 << 9
	maxNear    = 1 << 12
	maxOptions = 1 << 13
	maxOpen    = 128     // items of the core, for a search
	maxSearch  = 1 << 19 // nodes times open items; beyond that a proof is out of reach
)

// improve makes the best solution better until the bound proves it, or a limit is reached: first by shifts of core
// items, then by a search if there are few options.
func (p *Program) improve() {
	p.nodes, p.tried, p.status = 0, 0, Limited
	if p.opts.MaxNodes > 0 && p.ctx.Err() == nil {
		few := p.polish() && len(p.open) <= maxOpen
		if few && p.gap > p.tolerance && p.collect(true, p.gap-p.tolerance, maxOptions) {
			p.prove()
		}
	}
	switch {
	case p.gap <= p.tolerance:
		p.status = Optimal
	case p.ctx.Err() != nil:
		p.status = Interrupted
	}
}

// polish mends the solution by the core's options of least regret, and by more of them while that helps little. It
// reports whether it used all of them.
func (p *Program) polish() (all bool) {
	for near := minNear; p.gap > p.tolerance && near <= maxNear; {
		before, limit := p.gap, p.gap
		for n := 0; n < 40 && !p.collect(false, limit, near+len(p.core.Items)); n++ {
			share := float64(len(p.open)+len(p.closed)) / float64(len(p.core.Items))
			limit *= min(max(share, 0.1), 0.7) // the number of options is about proportional to the limit
		}
		all = limit == before
		p.mend()
		if p.gap > 0.7*before {
			near *= 2
			if all {
				break
			}
		}
	}
	return all
}

// prove searches all options. If the search completes, the best solution is optimal.
func (p *Program) prove() {
	before := p.gap
	p.mend()
	if p.gap < before && !p.collect(true, p.gap-p.tolerance, maxOptions) {
		return
	}
	if !p.prepareLevels() {
		p.status = Optimal
		return
	}
	p.budget, p.status = min(p.opts.MaxNodes, maxSearch/(1+len(p.open))), Optimal
	p.seen.reset(p.core.K)
	p.branch(0, 0)
}

// collect lists the options of regret below the limit, of all items or only of the core. It reports false if there
// are too many.
func (p *Program) collect(all bool, limit float64, most int) bool {
	p.open, p.closed = p.open[:0], p.closed[:0]
	p.core.Columns, p.core.Amounts = p.core.Columns[:0], p.core.Amounts[:0]
	p.scattered = all
	if all {
		for i := range p.items {
			if p.items[i].live {
				p.consider(int32(i), limit)
			}
			if len(p.core.Columns) > most {
				return false
			}
		}
	} else {
		for i := range p.core.Items {
			p.consider(p.core.Items[i].Slot, limit)
			if len(p.core.Columns) > most {
				return false
			}
		}
	}
	slices.SortFunc(p.open, func(a, b undecided) int {
		return decidedFirst(a.must, b.must, a.second, b.second, a.rank, b.rank)
	})
	return true
}

// consider lists the options of an item; "none" is left out if the item must be served.
func (p *Program) consider(i int32, limit float64) {
	x := &p.items[i]
	u := undecided{slot: i, first: int32(len(p.core.Columns)), rank: x.rank, must: x.must}
	p.list(i, limit)
	if x.must && len(p.core.Columns) > int(u.first) && p.core.Columns[u.first].ID == none {
		p.core.Columns = slices.Delete(p.core.Columns, int(u.first), int(u.first)+1)
	}
	u.end = int32(len(p.core.Columns))
	own := p.core.Columns[u.first:]
	slices.SortFunc(own, func(a, b core.Column) int { return cmp.Or(cmp.Compare(a.Regret, b.Regret), cmp.Compare(a.ID, b.ID)) })
	if len(own) > 1 {
		u.second = own[1].Regret
	}
	if len(own) > 1 || len(own) == 1 && !p.scattered && own[0].ID != x.taken {
		p.open = append(p.open, u)
		return
	}
	p.closed = append(p.closed, u)
}

func (p *Program) list(i int32, limit float64) {
	x, r := &p.items[i], &p.rows[i]
	start := 0.0
	if x.must {
		start = -p.penalty
	}
	best := p.highest(x, r, start)
	if best-start < limit {
		p.core.Columns = append(p.core.Columns, core.Column{Value: start, Regret: best - start, ID: none})
	}
	if x.kept != none && x.keptResource != core.Several {
		p.listOne(x, r, x.kept, x.keptResource, best, start, limit)
	}
	for g := range x.groups {
		u, at := &r.runs[g], &p.groups[x.group+g]
		if math.IsInf(at.value, -1) {
			continue
		}
		for c := at.at; c < u.live; c++ {
			if c != x.kept && p.listOne(x, r, c, u.resource, best, start, limit) {
				break
			}
		}
		for c := at.at - 1; c >= u.first; c-- {
			if c != x.kept && p.listOne(x, r, c, u.resource, best, start, limit) {
				break
			}
		}
	}
	for n := range r.bundles {
		if r.bundles[n].fits {
			p.listOne(x, r, int32(len(r.points)+n), core.Several, best, start, limit)
		}
	}
}

// listOne appends a column if its regret is below the limit and it is worth more than nothing. It reports whether the
// columns beyond it on the hull are worse.
func (p *Program) listOne(x *item, r *row, id, resource int32, best, start, limit float64) (worse bool) {
	c := core.Column{Value: x.worth(r, id), Resource: resource, ID: id}
	c.Regret = best - c.Value
	if resource == core.Several {
		uses := r.usesOf(id)
		for _, u := range uses {
			c.Regret += p.core.Prices[u.Resource] * u.Amount
		}
		if c.Regret < limit {
			c.First = int32(len(p.core.Amounts))
			p.core.Amounts = append(p.core.Amounts, uses...)
			c.End = int32(len(p.core.Amounts))
		}
	} else {
		c.Amount = r.amount(id)
		c.Regret += p.core.Prices[resource] * c.Amount
	}
	if c.Regret >= limit {
		return resource != core.Several && r.points[id].corner()
	}
	if c.Value > start {
		p.core.Columns = append(p.core.Columns, c)
	}
	return false
}

// highest returns the worth of an item's best column at the prices, and moves its groups there.
func (p *Program) highest(x *item, r *row, start float64) float64 {
	best := start
	if x.kept != none && x.keptResource != core.Several {
		best = max(best, x.keptValue-p.core.Prices[x.keptResource]*x.keptAmount)
	}
	for g := range x.groups {
		at := &p.groups[x.group+g]
		price := p.core.Prices[at.resource]
		r.settle(&r.runs[g], at, price*x.inverse)
		best = max(best, x.base+x.factor*at.value-price*at.amount)
	}
	for n := range r.bundles {
		if r.bundles[n].fits {
			c := int32(len(r.points) + n)
			w := x.worth(r, c)
			for _, u := range r.usesOf(c) {
				w -= p.core.Prices[u.Resource] * u.Amount
			}
			best = max(best, w)
		}
	}
	return best
}

func (p *Program) prepareLevels() bool {
	n := (len(p.open) + 1) * p.core.K
	p.levels, p.trail = sized(p.levels, n), sized(p.trail, len(p.open))
	copy(p.levels, p.core.Spare)
	if p.scattered {
		copy(p.levels, p.core.Capacity)
	}
	for _, u := range p.closed {
		if u.first == u.end {
			return false
		}
		p.core.Use(&p.core.Columns[u.first], p.levels[:p.core.K], -1)
	}
	p.addUp()
	return slices.Min(p.levels[:p.core.K]) >= 0
}

func (p *Program) addUp() {
	n := (len(p.open) + 1) * p.core.K
	p.most, p.least = sized(p.most, n), sized(p.least, n)
	clear(p.most[n-p.core.K:])
	clear(p.least[n-p.core.K:])
	for d, u := range slices.Backward(p.open) {
		for k := range p.core.K {
			low, high := math.Inf(1), 0.0
			for _, o := range p.core.Columns[u.first:u.end] {
				x := p.core.Uses(&o, k)
				low, high = min(low, x), max(high, x)
			}
			at := d*p.core.K + k
			p.most[at] = p.most[at+p.core.K] + high
			p.least[at] = p.least[at+p.core.K] + low
		}
	}
}

// branch tries the options of the open item at depth d; regret is the sum for the items before it. A branch is cut if
// its regrets and the price of capacity that must stay idle reach the gap.
func (p *Program) branch(d int, regret float64) {
	if p.stopped() {
		return
	}
	rest := p.levels[d*p.core.K : (d+1)*p.core.K]
	if p.tooMuch(d, rest) || regret+p.wasted(d, rest) >= p.gap-p.tolerance {
		return
	}
	if d == len(p.open) {
		p.record(regret + p.idleCost(rest))
		return
	}
	if p.seen.better(d, rest, regret) {
		return
	}
	u := p.open[d]
	next := p.levels[(d+1)*p.core.K : (d+2)*p.core.K]
	for o := u.first; o < u.end; o++ {
		more := p.core.Columns[o].Regret
		if regret+more >= p.gap-p.tolerance || p.status != Optimal {
			return
		}
		if c := &p.core.Columns[o]; p.core.FitsInto(c, rest) {
			copy(next, rest)
			p.core.Use(c, next, -1)
			p.trail[d] = o
			p.branch(d+1, regret+more)
		}
	}
}

func (p *Program) stopped() bool {
	if p.status != Optimal {
		return true
	}
	p.nodes++
	if p.nodes >= p.budget {
		p.status = Limited
	} else if p.nodes%1024 == 0 && p.ctx.Err() != nil {
		p.status = Interrupted
	}
	return false
}

// tooMuch reports whether the items from depth d on must use more than is left.
func (p *Program) tooMuch(d int, rest []float64) bool {
	for k, b := range rest {
		if p.least[d*p.core.K+k] > b+slack*p.core.Capacity[k] {
			return true
		}
	}
	return false
}

func (p *Program) wasted(d int, rest []float64) float64 {
	total := 0.0
	for k, b := range rest {
		if over := b - p.most[d*p.core.K+k]; over > 0 {
			total += over * p.core.Prices[k]
		}
	}
	return total
}

func (p *Program) record(gap float64) {
	p.gap = gap
	for _, u := range p.closed {
		p.items[u.slot].taken = p.core.Columns[u.first].ID
	}
	for d, u := range p.open {
		p.items[u.slot].taken = p.core.Columns[p.trail[d]].ID
	}
}
