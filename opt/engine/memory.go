package engine

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

func (e *price) Remember(m *memory.Codec) {
	m.Fields(e.program)
	memory.Slice(m, &e.ids, (*mmkp.ItemID).Remember)
}

func (e *withPrices) Remember(m *memory.Codec) { m.Fields(e.chooser, e.price) }

// Remember implements memory.Rememberer.
func (e *integral) Remember(m *memory.Codec) { m.Fields(&e.book) }

func (e *relaxed) Remember(m *memory.Codec) {
	m.Fields(&e.book, &e.program)
	if s, ok := e.solver.(memory.Rememberer); ok {
		m.Fields(s)
	}
	for i := range e.resources {
		m.Fields(&e.resources[i])
	}
	memory.Slice(m, &e.items, func(c *columns, m *memory.Codec) {
		m.Fields(&c.row)
		memory.Slice(m, &c.cols, (*lp.Col).Remember)
	})
}

func (b *book) Remember(m *memory.Codec) {
	m.Fields(&b.capacity)
	memory.Slice(m, &b.entries, func(e *entry, m *memory.Codec) {
		memory.Slice(m, &e.choices, (*mmkp.Choice).Remember)
		m.Fields(&e.must, &e.live, &e.adjustment)
	})
}
