package mmkp

import (
	"cmp"
	"math"
	"slices"
)

// slack is the relative amount by which a capacity may be exceeded, so that ten
// tenths fit into one. The bound is computed for the enlarged capacity.
const slack = 1e-10

// several is the resource of a column that uses more than one.
const several = math.MaxInt32

// A column is a choice that can be worth taking, or an item's "none".
type column struct {
	value    float64 // as given
	lp       float64 // value the prices see: moved by a hair, so that ties are rare
	amount   float64
	resource int32 // or several: then the problem's Choice says what it uses
	choice   int32 // -1 for none
}

// A row is an item: its columns, "none" first, then those of one resource by
// resource and amount, then those of several.
type row struct {
	first, end  int32 // in columns
	multi       int32 // first column of several resources
	group, last int32 // in groups, half open
}

// A group is the upper concave hull of an item's columns of one resource: the
// only ones that are best at some price. at is the last position asked for.
type group struct {
	first, end, at, resource int32
}

// A vertex is a corner of a group's hull.
type vertex struct {
	lp, amount float64
	column     int32
}

// frontier is the problem without what no solution needs.
type frontier struct {
	capacity []float64 // enlarged by slack; at least one
	items    []row
	columns  []column
	groups   []group
	hull     []vertex
	penalty  float64 // value lost if an item that must be served is not; beyond any other loss
}

// load fills the frontier from the problem.
func (s *Solver) load() {
	s.k = max(1, len(s.problem.Capacity))
	s.capacity = sized(s.capacity, s.k)
	s.capacity[0] = 0
	for k, b := range s.problem.Capacity {
		s.capacity[k] = b * (1 + slack)
	}
	s.penalty = s.problem.spread()
	s.items, s.columns, s.groups, s.hull = s.items[:0], s.columns[:0], s.groups[:0], s.hull[:0]
	for i := range s.problem.Items {
		s.loadItem(i)
	}
}

// spread returns more than the values of any two solutions differ by.
func (p *Problem) spread() float64 {
	total := 1.0
	for i := range p.Items {
		low, high := 0.0, 0.0
		for j := range p.Items[i].Choices {
			v := p.Items[i].Choices[j].Value
			low, high = min(low, v), max(high, v)
		}
		total += high - low
	}
	return 2 * total
}

func (s *Solver) loadItem(i int) {
	item := &s.problem.Items[i]
	none := 0.0
	if item.Must {
		none = -s.penalty
	}
	r := row{first: int32(len(s.columns))}
	s.columns = append(s.columns, column{value: none, lp: none, choice: -1})
	for j := range item.Choices {
		c := &item.Choices[j]
		if c.Value > none && s.fitsAlone(c) {
			s.columns = append(s.columns, newColumn(c, i, j, len(s.problem.Items)))
		}
	}
	own := s.columns[r.first+1:]
	slices.SortFunc(own, byResourceAmount)
	own = own[:s.prune(i, own)]
	r.end = r.first + 1 + int32(len(own))
	s.columns = s.columns[:r.end]
	r.multi, r.group = r.end, int32(len(s.groups))
	for c := r.first + 1; c < r.end; {
		resource := s.columns[c].resource
		if resource == several {
			r.multi = c
			break
		}
		c = s.addGroup(r.first, c, r.end)
	}
	r.last = int32(len(s.groups))
	s.items = append(s.items, r)
}

func newColumn(c *Choice, i, j, n int) column {
	col := column{value: c.Value, lp: nudge(c.Value, i, j, n), choice: int32(j)}
	col.resource, col.amount = int32(c.Resource), c.Amount
	switch {
	case len(c.More) > 0:
		col.resource, col.amount = several, 0
	case c.Amount == 0:
		col.resource = 0
	}
	return col
}

// nudge raises a value by at most a relative 1e-6, less from item to item: of n
// equal jobs the first is served first, and they do not change their minds at
// the same price, so that a vertex of the bound has as many ties as there are
// resources, and no more. The hash keeps different items from doing so by
// chance. Bound and regrets are computed from the values as given.
func nudge(v float64, i, j, n int) float64 {
	h := uint64(i)*0x9e3779b97f4a7c15 + uint64(j)*0xbf58476d1ce4e5b9 // odd multipliers of splitmix64
	h = (h ^ h>>31) * 0x94d049bb133111eb
	part := float64(h>>11) / (1 << 53) // in [0, 1)
	return v + math.Abs(v)*1e-6*(float64(n-1-i)+part)/float64(n)
}

func byResourceAmount(a, b column) int {
	return cmp.Or(cmp.Compare(a.resource, b.resource), cmp.Compare(a.amount, b.amount),
		-cmp.Compare(a.value, b.value), cmp.Compare(a.choice, b.choice))
}

// fitsAlone reports whether c fits into the empty capacities.
func (s *Solver) fitsAlone(c *Choice) bool {
	if len(c.More) == 0 {
		return c.Amount == 0 || c.Amount <= s.capacity[c.Resource]
	}
	for k := range s.problem.Capacity {
		if c.Uses(k) > s.capacity[k] {
			return false
		}
	}
	return true
}

// Uses returns what c uses of resource k.
func (c *Choice) Uses(k int) float64 {
	total := 0.0
	if c.Resource == k {
		total = c.Amount
	}
	for _, u := range c.More {
		if u.Resource == k {
			total += u.Amount
		}
	}
	return total
}

// prune moves the columns of item i that no other is as good and as cheap as to
// the front, in order, and returns their number. Columns are sorted, so within
// one resource it is enough to look at the last one kept.
func (s *Solver) prune(i int, own []column) int {
	n := 0
	for _, c := range own {
		switch {
		case c.resource == several:
			if s.dominated(i, c, own[:n]) {
				continue
			}
		case n > 0 && own[n-1].resource == c.resource && own[n-1].value >= c.value:
			continue
		}
		own[n] = c
		n++
	}
	return n
}

// dominated reports whether one of the others is worth at least as much as c
// and uses at most as much of everything.
func (s *Solver) dominated(i int, c column, others []column) bool {
	choices := s.problem.Items[i].Choices
	for _, o := range others {
		if o.value >= c.value && choices[o.choice].within(&choices[c.choice], s.problem.Capacity) {
			return true
		}
	}
	return false
}

// within reports whether c uses at most as much of every resource as d.
func (c *Choice) within(d *Choice, capacity []float64) bool {
	for k := range capacity {
		if c.Uses(k) > d.Uses(k) {
			return false
		}
	}
	return true
}

// addGroup appends the hull of the columns from first on that share a resource,
// starting from "none", and returns the first column after them.
func (s *Solver) addGroup(none, first, end int32) int32 {
	g := group{first: int32(len(s.hull)), resource: s.columns[first].resource}
	g.at = g.first
	s.hull = append(s.hull, vertex{s.columns[none].lp, 0, none})
	c := first
	for ; c < end && s.columns[c].resource == g.resource; c++ {
		v := vertex{s.columns[c].lp, s.columns[c].amount, c}
		for n := len(s.hull); n > int(g.first) && under(s.hull[g.first:n], v); n-- {
			s.hull = s.hull[:n-1]
		}
		s.hull = append(s.hull, v)
	}
	g.end = int32(len(s.hull))
	s.groups = append(s.groups, g)
	return c
}

// under reports whether the last corner of the hull is not above the line from
// the one before it to v, and so is best at no price.
func under(hull []vertex, v vertex) bool {
	top := hull[len(hull)-1]
	if top.lp <= v.lp && top.amount >= v.amount {
		return true
	}
	if len(hull) < 2 {
		return false
	}
	before := hull[len(hull)-2]
	return (top.lp-before.lp)*(v.amount-before.amount) <= (v.lp-before.lp)*(top.amount-before.amount)
}

// use adds sign times what column c of item i uses to used.
func (s *Solver) use(i int, c int32, used []float64, sign float64) {
	col := &s.columns[c]
	switch {
	case col.resource != several:
		used[col.resource] += sign * col.amount
	default:
		s.problem.Items[i].Choices[col.choice].add(used, sign)
	}
}

// cost returns what column c of item i costs at the given prices.
func (s *Solver) cost(i int, c int32, prices []float64) float64 {
	col := &s.columns[c]
	if col.resource != several {
		return prices[col.resource] * col.amount
	}
	return s.problem.Items[i].Choices[col.choice].cost(prices)
}

// uses returns what column c of item i uses of resource k.
func (s *Solver) uses(i int, c int32, k int) float64 {
	col := &s.columns[c]
	switch {
	case col.resource == several:
		return s.problem.Items[i].Choices[col.choice].Uses(k)
	case int(col.resource) == k:
		return col.amount
	}
	return 0
}
