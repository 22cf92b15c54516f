package mmkp

import (
	"github.com/oxgang/oxgang/internal/memory"
)

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

// Remember implements memory.Rememberer.
func (u *Use) Remember(m *memory.Codec) { m.Fields(&u.Resource, &u.Amount) }

// Remember implements memory.Rememberer.
func (c *Choice) Remember(m *memory.Codec) {
	m.Fields(&c.Value, &c.Use)
	memory.Slice(m, &c.More, (*Use).Remember)
}

// Remember implements memory.Rememberer.
func (a *Adjustment) Remember(m *memory.Codec) { m.Fields(&a.Base, &a.Factor, &a.Kept, &a.KeptFactor) }

// Remember implements memory.Rememberer.
func (id *ItemID) Remember(m *memory.Codec) { m.Fields(&id.slot, &id.turn) }
