package mmkp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

type inventory struct {
	core *coreProblem

	items  []item
	rows   []row
	free   []uint32 // slots
	live   int
	ranks  uint32
	span   uint32 // ranks are below
	groups []group
	holes  int  // groups that belong to no item
	shrunk bool // a capacity changed since the last solve
	stored int
	stack  []int32
	b      builder
}

type item struct {
	base, factor, inverse float64 // a value v is worth base + factor * v; 1 / factor
	size                  float64 // largest worth of a choice
	kept                  int32   // column with worth keptValue; none
	keptResource          int32   // several for a bundle
	keptAmount            float64
	keptValue             float64 // with base
	group, groups, room   int32   // in inventory.groups: first, number, reserved
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

func (inv *inventory) reset() {
	for i := range inv.items {
		inv.items[i].live, inv.items[i].groups, inv.items[i].room = false, 0, 0
	}
	inv.items, inv.free, inv.groups = inv.items[:0], inv.free[:0], inv.groups[:0]
	inv.live, inv.stored, inv.holes, inv.ranks, inv.span = 0, 0, 0, 0, 1024
	inv.shrunk = false
}

func (inv *inventory) add(it Item, k int) (ItemID, error) {
	if err := inv.b.load(&it, k); err != nil {
		return ItemID{}, err
	}
	if inv.ranks == inv.span {
		inv.renew()
	}
	slot := uint32(len(inv.items))
	if n := len(inv.free); n > 0 {
		slot = inv.free[n-1]
		inv.free = inv.free[:n-1]
	} else {
		inv.items = append(inv.items, item{})
		if len(inv.rows) < len(inv.items) {
			inv.rows = append(inv.rows, row{})
		}
		inv.rows[slot].empty()
	}
	x := &inv.items[slot]
	x.live, x.rank = true, inv.ranks
	x.turn++
	inv.ranks++
	inv.live++
	inv.store(slot, &it)
	return ItemID{slot, x.turn}, nil
}

func (inv *inventory) set(id ItemID, it Item, k int) error {
	if !inv.has(id) {
		return ErrNoItem
	}
	if err := inv.b.load(&it, k); err != nil {
		return err
	}
	inv.store(id.slot, &it)
	return nil
}

func (inv *inventory) store(slot uint32, it *Item) {
	r, x := &inv.rows[slot], &inv.items[slot]
	inv.stored -= len(r.points) + len(r.bundles)
	inv.b.write(r, len(it.Choices))
	inv.stored += len(r.points) + len(r.bundles)
	x.must, x.bundles = it.Must, int32(len(r.bundles))
	x.base, x.factor, x.inverse, x.kept = 0, 1, 1, none
	x.pick, x.taken = none, none
	inv.measure(slot)
	inv.reserve(slot, int32(len(r.runs)))
	for g := range r.runs {
		inv.computeHull(slot, int32(g))
	}
	for i := range r.bundles {
		r.bundles[i].fits = fitAll(r.uses[r.bundles[i].first:r.bundles[i].end], inv.core.Capacity)
	}
}

func (inv *inventory) computeHull(slot uint32, g int32) {
	r, x := &inv.rows[slot], &inv.items[slot]
	u := &r.runs[g]
	inv.stack = r.hull(u, inv.core.Capacity[u.resource], inv.stack)
	at := &inv.groups[x.group+g]
	*at = group{resource: u.resource, at: u.first, value: math.Inf(-1), low: math.Inf(-1), high: math.Inf(1)}
	if len(inv.stack) > 0 {
		r.moveTo(u, at, inv.stack[0])
		r.settle(u, at, inv.core.Prices[u.resource]*x.inverse)
	}
}

func (inv *inventory) reserve(slot uint32, n int32) {
	x := &inv.items[slot]
	x.groups = n
	if n <= x.room {
		return
	}
	inv.holes += int(x.room)
	x.group, x.room = int32(len(inv.groups)), n
	inv.groups = append(inv.groups, make([]group, n)...)
	if inv.holes > 64+len(inv.groups)/2 {
		inv.compact()
	}
}

func (inv *inventory) compact() {
	moved := make([]group, 0, len(inv.groups)-inv.holes)
	for i := range inv.items {
		x := &inv.items[i]
		first := int32(len(moved))
		moved = append(moved, inv.groups[x.group:x.group+x.room]...)
		x.group = first
	}
	inv.groups, inv.holes = moved, 0
}

func (inv *inventory) adjust(id ItemID, a Adjustment) error {
	if !inv.has(id) {
		return ErrNoItem
	}
	if err := a.Check(); err != nil {
		return err
	}
	x, r := &inv.items[id.slot], &inv.rows[id.slot]
	c := none
	if a.Kept != -1 {
		var err error
		if c, err = inv.held(x, r, &a); err != nil {
			return err
		}
	}
	x.base, x.factor, x.inverse, x.kept = a.Base, a.Factor, 1/a.Factor, c
	switch n := int32(len(r.points)); {
	case c == none:
	case c >= n:
		x.keptResource, x.keptValue = several, a.Base+a.KeptFactor*r.value(c)
	default:
		x.keptResource, x.keptAmount, x.keptValue = r.resource(c), r.amount(c), a.Base+a.KeptFactor*r.value(c)
	}
	inv.measure(id.slot)
	return nil
}

func (inv *inventory) held(x *item, r *row, a *Adjustment) (int32, error) {
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

func (inv *inventory) measure(slot uint32) {
	r, x := &inv.rows[slot], &inv.items[slot]
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

func (inv *inventory) remove(id ItemID) error {
	if !inv.has(id) {
		return ErrNoItem
	}
	x, r := &inv.items[id.slot], &inv.rows[id.slot]
	inv.stored -= len(r.points) + len(r.bundles)
	r.empty()
	x.live, x.groups, x.bundles = false, 0, 0
	inv.live--
	inv.free = append(inv.free, id.slot)
	return nil
}

func (inv *inventory) has(id ItemID) bool {
	return int(id.slot) < len(inv.items) && inv.items[id.slot].live && inv.items[id.slot].turn == id.turn
}

// renew assigns new ranks in the old order, with room for three times as many.
func (inv *inventory) renew() {
	for rank, slot := range inv.byRank() {
		inv.items[slot].rank = uint32(rank)
	}
	inv.ranks = uint32(inv.live)
	inv.span = max(1024, 4*inv.ranks)
}

func (inv *inventory) byRank() []int32 {
	order := make([]int32, 0, inv.live)
	for i := range inv.items {
		if inv.items[i].live {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(inv.items[a].rank, inv.items[b].rank) })
	return order
}

func (inv *inventory) refit() {
	if !inv.shrunk {
		return
	}
	inv.shrunk = false
	for i := range inv.items {
		r := &inv.rows[i]
		for g := range inv.items[i].groups {
			if u := &r.runs[g]; r.fitting(u, inv.core.Capacity[u.resource]) != u.live {
				inv.computeHull(uint32(i), g)
			}
		}
		for n := range r.bundles {
			r.bundles[n].fits = fitAll(r.uses[r.bundles[n].first:r.bundles[n].end], inv.core.Capacity)
		}
	}
}
