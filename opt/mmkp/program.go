package mmkp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/opt/mmkp/internal/core"
)

// ErrNoItem reports an ItemID whose item was removed, or belongs to another program.
var ErrNoItem = errors.New("no such item")

// An ItemID identifies an item of a Program until the item is removed. The zero ItemID identifies none.
type ItemID struct {
	slot uint32
	turn uint32 // number of items that the slot has had, including this one
}

// A Program is a multiple-choice knapsack whose items change between solves, such as jobs between rounds. A solve
// costs the changes, a pass over the items, and a search around the last prices. It stores 16 bytes for every choice
// that no other of the same resource dominates (24 if an amount is no float32). Not safe for concurrent use.
type Program struct {
	given []float64 // capacities; core.Capacity has them enlarged by slack, and at least one
	core  core.Core // items that the last scan left undecided, and the prices

	items   []item
	rows    []row
	free    []uint32 // slots without an item
	live    int
	ranks   uint32 // next rank
	span    uint32 // ranks are below
	groups  []group
	holes   int  // groups that belong to no item
	shrunk  bool // a capacity changed since the last solve
	stored  int
	stack   []int32
	whole   bool    // the core's ranges contain every price at which a resource is used
	penalty float64 // value lost if an item that must be served is not; beyond any other loss

	b builder
	pricing
	rounding
	mending
	search
	solution Solution

	opts Options
	ctx  context.Context
}

// An item has what a solve reads of every item.
type item struct {
	base, factor, inverse float64 // a value v is worth base + factor * v; 1 / factor
	size                  float64 // largest worth of a choice
	kept                  int32   // column with worth keptValue; none
	keptResource          int32   // core.Several for a bundle
	keptAmount            float64
	keptValue             float64 // with base
	group, groups, room   int32   // in Program.groups: first, number, reserved
	bundles               int32
	rank, turn            uint32
	taken                 int32 // column of the highest worth at the last scan
	pick                  int32 // column of the last solution
	must, live            bool
}

// A group is an item's corner on one of its hulls. Prices are divided by the item's factor.
type group struct {
	value, amount float64
	low, high     float64 // prices between which it is best
	at            int32
	resource      int32
}

// NewProgram returns a program without items. It copies the capacities, which are as in Problem.Capacity.
func NewProgram(capacity []float64) (*Program, error) {
	p := new(Program)
	if err := p.reset(capacity); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Program) reset(capacity []float64) error {
	for k, b := range capacity {
		if err := checkCapacity(k, b); err != nil {
			return err
		}
	}
	p.given = append(p.given[:0], capacity...)
	p.core.K = max(1, len(capacity))
	p.core.Capacity = sized(p.core.Capacity, p.core.K)
	p.core.Capacity[0] = 0
	for k, b := range capacity {
		p.core.Capacity[k] = b * (1 + slack)
	}
	for i := range p.items {
		p.items[i].live, p.items[i].groups, p.items[i].room = false, 0, 0
	}
	p.items, p.free, p.groups = p.items[:0], p.free[:0], p.groups[:0]
	p.live, p.stored, p.holes, p.ranks, p.span = 0, 0, 0, 0, 1024
	p.shrunk = false
	p.forget(p.core.K)
	return nil
}

// SetCapacity changes the capacity of resource k. It returns an error if there is no such resource, or b is negative
// or not finite. The next Solve pays for a pass over all choices of that resource.
func (p *Program) SetCapacity(k int, b float64) error {
	if k < 0 || k >= len(p.given) {
		return fmt.Errorf("resource %d, want one of %d", k, len(p.given))
	}
	if err := checkCapacity(k, b); err != nil {
		return err
	}
	if p.given[k] != b {
		p.given[k], p.core.Capacity[k], p.shrunk = b, b*(1+slack), true
	}
	return nil
}

// Len returns the number of items.
func (p *Program) Len() int { return p.live }

// Add adds a copy of an item. On an error nothing is added. Of equal items, the first added is served first. It costs
// a pass over the choices, and a sort if they are out of order.
func (p *Program) Add(it Item) (ItemID, error) {
	if err := p.b.load(&it, p.k0()); err != nil {
		return ItemID{}, err
	}
	if p.ranks == p.span {
		p.renew()
	}
	slot := uint32(len(p.items))
	if n := len(p.free); n > 0 {
		slot = p.free[n-1]
		p.free = p.free[:n-1]
	} else {
		p.items = append(p.items, item{})
		if len(p.rows) < len(p.items) {
			p.rows = append(p.rows, row{})
		}
		p.rows[slot].empty()
	}
	x := &p.items[slot]
	x.live, x.rank = true, p.ranks
	x.turn++
	p.ranks++
	p.live++
	p.store(slot, &it)
	return ItemID{slot, x.turn}, nil
}

// k0 returns the number of resources as given, which may be 0.
func (p *Program) k0() int { return len(p.given) }

// Set replaces the choices of an item and resets its adjustment. The item keeps its rank among equal ones. On an
// error it stays unchanged. It costs as much as Add.
func (p *Program) Set(id ItemID, it Item) error {
	if !p.has(id) {
		return ErrNoItem
	}
	if err := p.b.load(&it, p.k0()); err != nil {
		return err
	}
	p.store(id.slot, &it)
	return nil
}

func (p *Program) store(slot uint32, it *Item) {
	r, x := &p.rows[slot], &p.items[slot]
	p.stored -= len(r.points) + len(r.bundles)
	p.b.write(r, len(it.Choices))
	p.stored += len(r.points) + len(r.bundles)
	x.must, x.bundles = it.Must, int32(len(r.bundles))
	x.base, x.factor, x.inverse, x.kept = 0, 1, 1, none
	x.pick, x.taken = none, none
	p.measure(slot)
	p.reserve(slot, int32(len(r.runs)))
	for g := range r.runs {
		p.computeHull(slot, int32(g))
	}
	for i := range r.bundles {
		r.bundles[i].fits = core.Fits(r.uses[r.bundles[i].first:r.bundles[i].end], p.core.Capacity)
	}
}

func (p *Program) computeHull(slot uint32, g int32) {
	r, x := &p.rows[slot], &p.items[slot]
	u := &r.runs[g]
	p.stack = r.hull(u, p.core.Capacity[u.resource], p.stack)
	at := &p.groups[x.group+g]
	*at = group{resource: u.resource, at: u.first, value: math.Inf(-1), low: math.Inf(-1), high: math.Inf(1)}
	if len(p.stack) > 0 {
		r.moveTo(u, at, p.stack[0])
		r.settle(u, at, p.core.Prices[u.resource]*x.inverse)
	}
}

func (p *Program) reserve(slot uint32, n int32) {
	x := &p.items[slot]
	x.groups = n
	if n <= x.room {
		return
	}
	p.holes += int(x.room)
	x.group, x.room = int32(len(p.groups)), n
	p.groups = append(p.groups, make([]group, n)...)
	if p.holes > 64+len(p.groups)/2 {
		p.compact()
	}
}

func (p *Program) compact() {
	moved := make([]group, 0, len(p.groups)-p.holes)
	for i := range p.items {
		x := &p.items[i]
		first := int32(len(moved))
		moved = append(moved, p.groups[x.group:x.group+x.room]...)
		x.group = first
	}
	p.groups, p.holes = moved, 0
}

// An Adjustment changes the values of an item's choices: each becomes Base + Factor * Value, but the choice with
// index Kept (-1: none) becomes Base + KeptFactor * Value. So a running job pays for a restart in every choice but
// its present one.
type Adjustment struct {
	Base, Factor float64
	Kept         int
	KeptFactor   float64
}

// Check returns an error if a number is not finite, or a factor is not above 0.
func (a *Adjustment) Check() error {
	switch {
	case !(a.Factor > 0 && a.Factor <= largest):
		return fmt.Errorf("factor %v, want finite and above 0", a.Factor)
	case a.Kept != -1 && !(a.KeptFactor > 0 && a.KeptFactor <= largest):
		return fmt.Errorf("factor %v of the kept choice, want finite and above 0", a.KeptFactor)
	case !(math.Abs(a.Base) <= largest):
		return fmt.Errorf("base %v, want finite", a.Base)
	}
	return nil
}

// Adjust changes the values of an item's choices. It returns an error if a is invalid, if the kept choice would be
// worth less than the same choice taken newly, or if it was dropped as dominated (set Item.Keep). It costs a search
// for the kept choice; no hull changes.
func (p *Program) Adjust(id ItemID, a Adjustment) error {
	if !p.has(id) {
		return ErrNoItem
	}
	if err := a.Check(); err != nil {
		return err
	}
	x, r := &p.items[id.slot], &p.rows[id.slot]
	c := none
	if a.Kept != -1 {
		var err error
		if c, err = p.held(x, r, &a); err != nil {
			return err
		}
	}
	x.base, x.factor, x.inverse, x.kept = a.Base, a.Factor, 1/a.Factor, c
	switch n := int32(len(r.points)); {
	case c == none:
	case c >= n:
		x.keptResource, x.keptValue = core.Several, a.Base+a.KeptFactor*r.value(c)
	default:
		x.keptResource, x.keptAmount, x.keptValue = r.resource(c), r.amount(c), a.Base+a.KeptFactor*r.value(c)
	}
	p.measure(id.slot)
	return nil
}

// held returns the column of the kept choice; none if keeping it makes no difference.
func (p *Program) held(x *item, r *row, a *Adjustment) (int32, error) {
	kept := a.Kept
	if kept < -1 || kept >= r.choices {
		return none, fmt.Errorf("kept choice %d, want -1 or one of %d", kept, r.choices)
	}
	c := x.pick
	if c == none || c >= int32(len(r.points)+len(r.bundles)) || r.choice(c) != kept {
		c = r.find(kept)
	}
	if c == none {
		return none, fmt.Errorf("kept choice %d: was dropped, want it in Item.Keep", kept)
	}
	v := r.value(c)
	if a.KeptFactor*v < a.Factor*v {
		return none, fmt.Errorf("kept choice %d of value %v: worth less kept than taken anew by a factor of %v", kept, v, a.Factor)
	}
	if a.Factor == a.KeptFactor {
		c = none
	}
	return c, nil
}

func (p *Program) measure(slot uint32) {
	r, x := &p.rows[slot], &p.items[slot]
	x.size = 0
	if r.choices == 0 {
		return
	}
	x.size = max(0, x.base+x.factor*r.high)
	if x.kept != none {
		x.size = max(x.size, math.Abs(x.keptValue))
	}
	if x.must {
		x.size = max(x.size, math.Abs(x.base+x.factor*r.low))
	}
}

// Remove removes an item. It returns an error if the item was removed before.
func (p *Program) Remove(id ItemID) error {
	if !p.has(id) {
		return ErrNoItem
	}
	x, r := &p.items[id.slot], &p.rows[id.slot]
	p.stored -= len(r.points) + len(r.bundles)
	r.empty()
	x.live, x.groups, x.bundles = false, 0, 0
	p.live--
	p.free = append(p.free, id.slot)
	return nil
}

func (p *Program) has(id ItemID) bool {
	return int(id.slot) < len(p.items) && p.items[id.slot].live && p.items[id.slot].turn == id.turn
}

// Pick returns the index of the choice that the last solution took for an item; -1 for none, or if the item changed
// since. It panics if id identifies no item.
func (p *Program) Pick(id ItemID) int {
	if !p.has(id) {
		panic("mmkp: no such item")
	}
	return p.rows[id.slot].choice(p.items[id.slot].pick)
}

// renew assigns new ranks in the old order, with room for three times as many.
func (p *Program) renew() {
	for rank, slot := range p.byRank() {
		p.items[slot].rank = uint32(rank)
	}
	p.ranks = uint32(p.live)
	p.span = max(1024, 4*p.ranks)
}

// byRank returns the slots of all items, first added first.
func (p *Program) byRank() []int32 {
	order := make([]int32, 0, p.live)
	for i := range p.items {
		if p.items[i].live {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(p.items[a].rank, p.items[b].rank) })
	return order
}
