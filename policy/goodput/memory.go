package goodput

import (
	"slices"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Program) Remember(m *memory.Codec) {
	memory.Once(m, &p.cluster, (*cluster.Cluster).Remember)
	if p.cluster == nil {
		return
	}
	memory.Slice(m, &p.sets, func(s *nodeSet, m *memory.Codec) { m.Fields(&s.gpuType, &s.nodes, &s.gpus) })
	if m.Decoding() {
		capacity, hosts := p.couple(p.cluster)
		if err := p.setCapacity(capacity, false); err != nil {
			m.Fail("%w", err)
			return
		}
		p.list(hosts)
	}
	m.Fields(p.engine, &p.items, &p.numbers, &p.prices)
	memory.Map(m, &p.rows, func(r **Row, m *memory.Codec) { memory.Copied(m, r, (*Row).copied, p.rememberRow) })
}

// copied returns a copy that shares the slices of the row until one of the two changes them (own, item.own).
func (r *Row) copied() *Row {
	if !r.shared {
		r.shared = true
	}
	if !r.item.shared {
		r.item.shared = true
	}
	c := *r
	c.like = nil
	return &c
}

// follow makes r use the columns of another row with equal goodputs, until one of the two changes them (own).
func (r *Row) follow(of *Row) {
	of.shared, r.shared = true, true
	r.columns, r.sizes, r.allowed = of.columns, of.sizes, of.allowed
	r.goodput, r.cells, r.plain = of.goodput, of.cells, of.plain
	r.lean, r.fast = 0, -1
}

// own makes the columns of the row its own, before a change of them.
func (r *Row) own() {
	if !r.shared {
		return
	}
	of, n := *r, len(r.columns)
	r.shared = false
	r.columns, r.sizes, r.allowed = slices.Clone(of.columns), slices.Clone(of.sizes), slices.Clone(of.allowed)
	r.goodput, r.cells, r.plain = slices.Clone(of.goodput), make([][]cell, n), slices.Clone(of.plain)
	for i, cells := range of.cells {
		r.cells[i] = cells // immutable
		if len(cells) == 1 && &cells[0] == &of.plain[i] {
			r.cells[i] = r.plain[i : i+1]
		}
	}
	r.lean, r.fast = 0, -1
}

// own makes the choices of the item its own, before a change of them.
func (it *item) own() {
	if it.shared {
		it.shared = false
		it.choices, it.origin, it.factors = slices.Clone(it.choices), slices.Clone(it.origin), slices.Clone(it.factors)
	}
}

func (p *Program) rememberRow(r *Row, m *memory.Codec) {
	if m.Decoding() {
		r.job = &policy.Job{}
	}
	memory.Shared(m, &r.job.Spec)
	memory.Shared(m, &r.job.Perf)
	memory.Shared(m, &r.job.Limits)
	memory.Shared(m, &r.job.Sensitivity)
	columns := 0
	if m.Fields(&r.laid); r.laid {
		columns = m.Int(len(r.columns))
	}
	if m.Decoding() && !p.relay(r, columns) {
		m.Fail("goodput: %d columns", columns)
		return
	}
	for i := range columns {
		r.rememberColumn(i, m)
	}
	m.Fields(&r.allowed, &r.limits.most, (*string)(&r.limits.gpuType), &r.limits.held, &r.held, &r.unit, &r.fewest, &r.peak, &r.lean, &r.fast, &r.seen, &r.item)
}

// relay makes the columns of a row being read, and reports whether their number is possible.
func (p *Program) relay(r *Row, columns int) bool {
	if columns < 0 || columns > len(p.columns)+len(p.cluster.Types()) {
		return false
	}
	if r.laid && r.job.Spec != nil && r.job.Limits != nil {
		r.columns = make([]configuration, 0, columns)
		p.lay(r)
		return len(r.columns) == columns
	}
	r.laid, r.columns = false, make([]configuration, columns)
	r.goodput, r.cells, r.plain = make([]float64, columns), make([][]cell, columns), make([]cell, columns)
	return true
}

// rememberColumn codes the cells of a column: their number plus one, 0 for a column without computed cells, and -1
// for a cell of GPUs alone.
func (r *Row) rememberColumn(i int, m *memory.Codec) {
	cells := r.cells[i]
	n := len(cells) + 1
	switch {
	case cells == nil:
		n = 0
	case len(cells) == 1 && &cells[0] == &r.plain[i]:
		n = -1
	}
	m.Fields(&r.goodput[i])
	n = m.Int(n)
	switch {
	case n == 0, n < 0 && !m.Decoding():
		return
	case n < 0:
		r.plain[i] = cell{goodput: r.goodput[i]}
		r.cells[i] = r.plain[i : i+1]
		return
	case m.Decoding():
		cells = make([]cell, min(n-1, maxCells))
		r.cells[i] = cells
	}
	for k := range cells {
		c := &cells[k]
		if m.Fields(&c.goodput, &c.cpus, &c.memory); m.Decoding() {
			*c = newCell(r.columns[i].host, c.goodput, c.cpus, c.memory)
		}
	}
}

const maxCells = 1 << 16

func (it *item) Remember(m *memory.Codec) {
	s := &it.shape
	m.Fields(&it.number, &it.filed, &it.stale, &it.now, &it.factors, &s.pin, &s.held, &s.share, &s.out, &s.frozen, &s.baked, &s.factor)
	memory.Slice(m, &it.choices, (*mmkp.Choice).Remember)
	memory.Slice(m, &it.origin, func(o *origin, m *memory.Codec) { m.Fields(&o.column, &o.cell) })
}
