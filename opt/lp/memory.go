package lp

import "github.com/oxgang/oxgang/internal/memory"

// Remember saves and restores the problem (memory.Rememberer).
func (p *Problem) Remember(m *memory.Codec) {
	m.Fields(&p.Offset, &p.matrix, &p.cost, &p.low, &p.up, &p.integer, &p.colStamp, &p.freeCols, &p.rowStamp, &p.freeRows,
		&p.cols, &p.rows, &p.nonzeros, &p.edits)
	memory.Slice(m, &p.side, func(s *sides, m *memory.Codec) { m.Fields(&s.low, &s.up) })
	memory.Slice(m, &p.inRow, func(c *colset, m *memory.Codec) { m.Fields(&c.members, &c.stale, &c.clean) })
}

func (s *store) Remember(m *memory.Codec) {
	m.Fields(&s.used)
	memory.Slice(m, &s.at, func(r *run, m *memory.Codec) { m.Fields(&r.place, &r.n, &r.size) })
	for k := range s.free {
		memory.Slice(m, &s.free[k], (*place).Remember)
	}
	memory.Slice(m, &s.blocks, func(b *block, m *memory.Codec) {
		n := len(b.rows)
		if m.Fields(&n); m.Decoding() {
			b.rows, b.values = make([]uint32, n), make([]float64, n)
		}
	})
	for col := range s.at {
		rows, values := s.column(uint32(col))
		for k := range rows {
			m.Fields(&rows[k], &values[k])
		}
	}
}

func (p *place) Remember(m *memory.Codec) { m.Fields(&p.block, &p.first) }

// Remember implements memory.Rememberer.
func (c *Col) Remember(m *memory.Codec) { m.Fields(&c.slot, &c.stamp) }

// Remember implements memory.Rememberer.
func (r *Row) Remember(m *memory.Codec) { m.Fields(&r.slot, &r.stamp) }
