package lp

import (
	"math/bits"
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
)

const blockSize = 1 << 16

// store holds the coefficients by column, in runs of a power of two places. Free runs are listed by size. Edits
// cost the column, and a pass reads memory nearly in order.
type store struct {
	blocks []block
	at     []run
	free   [32][]place // runs of 1<<k places
	used   int         // of the last block
}

type block struct {
	rows   []uint32
	values []float64
}

type place struct{ block, first uint32 }

// A run has n of 1<<size places.
type run struct {
	place
	n    uint32
	size uint8
}

func (s *store) add(col uint32, entries []RowEntry) int {
	for int(col) >= len(s.at) {
		s.at = append(s.at, run{})
	}
	n := 0
	for _, e := range entries {
		if e.Value != 0 {
			n++
		}
	}
	s.at[col] = s.take(n)
	rows, values := s.column(col)
	k := 0
	for _, e := range entries {
		if e.Value != 0 {
			rows[k], values[k] = e.Row.slot, e.Value
			k++
		}
	}
	return n
}

func (s *store) take(n int) run {
	if n == 0 {
		return run{}
	}
	size := bits.Len(uint(n - 1))
	r := run{n: uint32(n), size: uint8(size)}
	if k := len(s.free[size]); k > 0 {
		r.place = s.free[size][k-1]
		s.free[size] = s.free[size][:k-1]
		return r
	}
	if len(s.blocks) == 0 || s.used+1<<size > len(s.blocks[len(s.blocks)-1].rows) {
		s.split()
		m := max(blockSize, 1<<size)
		s.blocks = append(s.blocks, block{make([]uint32, m), make([]float64, m)})
		s.used = 0
	}
	r.place = place{uint32(len(s.blocks) - 1), uint32(s.used)}
	s.used += 1 << size
	return r
}

func (s *store) split() {
	if len(s.blocks) == 0 {
		return
	}
	last := uint32(len(s.blocks) - 1)
	for end := len(s.blocks[last].rows); s.used < end; {
		size := bits.Len(uint(end-s.used)) - 1
		s.free[size] = append(s.free[size], place{last, uint32(s.used)})
		s.used += 1 << size
	}
}

func (s *store) column(col uint32) (rows []uint32, values []float64) {
	r := s.at[col]
	if r.n == 0 {
		return nil, nil
	}
	b := &s.blocks[r.block]
	end := r.first + r.n
	return b.rows[r.first:end:end], b.values[r.first:end:end]
}

func (s *store) remove(col uint32) {
	r := s.at[col]
	if r.n > 0 {
		s.free[r.size] = append(s.free[r.size], r.place)
	}
	s.at[col] = run{}
}

func (s *store) set(col, row uint32, value float64) bool {
	rows, values := s.column(col)
	if k := slices.Index(rows, row); k >= 0 {
		values[k] = value
		return false
	}
	r := s.at[col]
	if r.n == 0 || r.n == 1<<r.size {
		grown := s.take(int(r.n) + 1)
		s.remove(col)
		s.at[col] = grown
		newRows, newValues := s.column(col)
		copy(newRows, rows)
		copy(newValues, values)
	} else {
		s.at[col].n++
	}
	rows, values = s.column(col)
	rows[r.n], values[r.n] = row, value
	return true
}

func (s *store) drop(col, row uint32) bool {
	rows, values := s.column(col)
	k := slices.Index(rows, row)
	if k < 0 {
		return false
	}
	last := len(rows) - 1
	rows[k], values[k] = rows[last], values[last]
	if s.at[col].n--; last == 0 {
		s.at[col].n = 1
		s.remove(col)
	}
	return true
}

// A colset lists the columns of a row, until half of it is stale; a reused slot may be in it twice.
type colset struct {
	members []uint32
	stale   int
	clean   bool // ascending, unique, none stale
}

func (c *colset) add(col uint32) {
	c.clean = len(c.members) == 0 || c.clean && c.members[len(c.members)-1] < col
	c.members = append(c.members, col)
}

func (c *colset) tidy(p *Problem, row uint32) {
	if 2*c.stale > len(c.members) {
		c.sweep(p, row)
	}
}

func (c *colset) sweep(p *Problem, row uint32) {
	if c.clean && c.stale == 0 {
		return
	}
	slices.Sort(c.members)
	c.members = slices.Compact(c.members)
	c.members = slices.DeleteFunc(c.members, func(col uint32) bool {
		rows, _ := p.matrix.column(col)
		return !slices.Contains(rows, row)
	})
	c.stale, c.clean = 0, true
}

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

// Remember lets m save or restore c.
func (c *Col) Remember(m *memory.Codec) { m.Fields(&c.slot, &c.stamp) }

// Remember lets m save or restore r.
func (r *Row) Remember(m *memory.Codec) { m.Fields(&r.slot, &r.stamp) }
