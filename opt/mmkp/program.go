package mmkp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/internal/memory"
)

// ErrNoItem is returned for an ItemID whose item was removed or belongs to another program.
var ErrNoItem = errors.New("no such item")

// An ItemID identifies an item of a Program until the item is removed. The zero ItemID identifies none.
type ItemID struct {
	slot uint32
	turn uint32 // number of items that the slot has had so far
}

// A Program is a multiple-choice knapsack whose items change between solves, such as jobs between rounds. It stores 16
// bytes (24 if an amount is not exactly a float32) for every choice that is not dominated by another choice of the same
// resource. It is not safe for concurrent use.
type Program struct {
	given []float64   // capacities; core.Capacity has them enlarged by slack, and at least one
	core  coreProblem // undecided items of the last scan, and the prices
	call  call

	inv      inventory
	scan     scanner
	pricing  pricing
	rounding rounding
	options  candidates
	mending  mending
	search   search
	solution Solution
}

type call struct {
	opts Options
	ctx  context.Context
}

// NewProgram returns a program without items. It copies the capacities, and returns an error if one is negative or not
// finite.
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
	p.connect()
	p.given = append(p.given[:0], capacity...)
	p.core.K = max(1, len(capacity))
	p.core.Capacity = sized(p.core.Capacity, p.core.K)
	p.core.Capacity[0] = 0
	for k, b := range capacity {
		p.core.Capacity[k] = b * (1 + slack)
	}
	p.inv.reset()
	p.pricing.forget(p.core.K)
	return nil
}

func (p *Program) connect() {
	p.inv.core = &p.core
	p.scan.call, p.scan.core, p.scan.inv = &p.call, &p.core, &p.inv
	p.pricing.call, p.pricing.core, p.pricing.inv, p.pricing.scan = &p.call, &p.core, &p.inv, &p.scan
	p.rounding.call, p.rounding.core, p.rounding.inv, p.rounding.scan = &p.call, &p.core, &p.inv, &p.scan
	p.options.core, p.options.inv, p.options.scan = &p.core, &p.inv, &p.scan
	p.mending.core, p.mending.inv, p.mending.scan, p.mending.rounding, p.mending.options = &p.core, &p.inv, &p.scan, &p.rounding, &p.options
	p.search.call, p.search.core, p.search.inv, p.search.rounding = &p.call, &p.core, &p.inv, &p.rounding
	p.search.options, p.search.mending = &p.options, &p.mending
}

// SetCapacity changes the capacity of resource k to b. The next Solve then passes over all choices of the resource.
func (p *Program) SetCapacity(k int, b float64) error {
	if k < 0 || k >= len(p.given) {
		return fmt.Errorf("resource %d, want one of %d", k, len(p.given))
	}
	if err := checkCapacity(k, b); err != nil {
		return err
	}
	if p.given[k] != b {
		p.given[k], p.core.Capacity[k], p.inv.shrunk = b, b*(1+slack), true
	}
	return nil
}

// Add adds a copy of an item, or returns an error for an invalid one. If equal items compete, the one added first wins.
// It costs a pass over the choices, and a sort if they are not sorted.
func (p *Program) Add(it Item) (ItemID, error) { return p.inv.add(it, len(p.given)) }

// Set replaces the choices of an item and removes its Adjustment. If equal items compete, its rank stays the same. An
// invalid item is an error and changes nothing. It costs as much as Add.
func (p *Program) Set(id ItemID, it Item) error { return p.inv.set(id, it, len(p.given)) }

// An Adjustment changes the values of an item's choices to Base + Factor * Value. The choice with index Kept (-1: none)
// gets Base + KeptFactor * Value instead. Thus a running job pays for a restart in every choice but its present one.
type Adjustment struct {
	Base, Factor float64
	Kept         int
	KeptFactor   float64
}

// Check returns an error if a number is not finite, or if a factor is not above 0.
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

// Adjust changes the values of an item's choices. It returns an error if a is invalid, if a lowers the value of the
// kept choice, or if this choice was dropped because another one dominates it (set Item.Keep).
func (p *Program) Adjust(id ItemID, a Adjustment) error { return p.inv.adjust(id, a) }

// Remove removes an item.
func (p *Program) Remove(id ItemID) error { return p.inv.remove(id) }

// Pick returns the index of the choice that the last solution took for an item. It is -1 if the solution took none, or
// if the item has changed since.
func (p *Program) Pick(id ItemID) int {
	if !p.inv.has(id) {
		panic("mmkp: no such item")
	}
	return p.inv.rows[id.slot].choice(p.inv.items[id.slot].pick)
}

// Remember saves and restores the items, their choices and the last prices (memory.Rememberer).
func (p *Program) Remember(m *memory.Codec) {
	p.connect()
	m.Fields(&p.given, &p.core.K, &p.core.Capacity, &p.core.Prices, &p.inv.free, &p.inv.live, &p.inv.ranks, &p.inv.span, &p.inv.holes, &p.inv.shrunk, &p.inv.stored, &p.pricing.priced, &p.pricing.radius)
	memory.Slice(m, &p.inv.items, (*item).Remember)
	memory.Slice(m, &p.inv.groups, (*group).Remember)
	if m.Decoding() {
		p.inv.rows = make([]row, len(p.inv.items))
		p.pricing.scale = make([]float64, p.core.K)
	}
	for i := range p.inv.items {
		p.inv.rows[i].Remember(m)
	}
}

func (x *item) Remember(m *memory.Codec) {
	m.Fields(&x.base, &x.factor, &x.inverse, &x.size, &x.kept, &x.keptResource, &x.keptAmount, &x.keptValue, &x.group, &x.groups, &x.room,
		&x.bundles, &x.rank, &x.turn, &x.taken, &x.pick, &x.must, &x.live)
}

func (g *group) Remember(m *memory.Codec) {
	m.Fields(&g.value, &g.amount, &g.low, &g.high, &g.at, &g.resource)
}

func (r *row) Remember(m *memory.Codec) {
	memory.Slice(m, &r.points, func(q *point, m *memory.Codec) { m.Fields(&q.value, &q.amount, &q.choice) })
	memory.Slice(m, &r.runs, func(u *run, m *memory.Codec) { m.Fields(&u.first, &u.end, &u.live, &u.resource) })
	memory.Slice(m, &r.bundles, func(b *bundle, m *memory.Codec) { m.Fields(&b.value, &b.choice, &b.first, &b.end, &b.fits) })
	memory.Slice(m, &r.uses, (*Use).Remember)
	memory.Slice(m, &r.least, (*Use).Remember)
	m.Fields(&r.wide, &r.choices, &r.ordered, &r.low, &r.high)
}

// Remember lets m save or restore u.
func (u *Use) Remember(m *memory.Codec) { m.Fields(&u.Resource, &u.Amount) }

// Remember lets m save or restore c.
func (c *Choice) Remember(m *memory.Codec) {
	m.Fields(&c.Value, &c.Use)
	memory.Slice(m, &c.More, (*Use).Remember)
}

// Remember lets m save or restore a.
func (a *Adjustment) Remember(m *memory.Codec) { m.Fields(&a.Base, &a.Factor, &a.Kept, &a.KeptFactor) }

// Remember lets m save or restore id.
func (id *ItemID) Remember(m *memory.Codec) { m.Fields(&id.slot, &id.turn) }
