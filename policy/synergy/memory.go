package synergy

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
)

// Remember implements policy.Rememberer. The queue has no state.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Once(m, &p.cluster, (*cluster.Cluster).Remember)
	if m.Decoding() && p.cluster != nil {
		p.packing = newPacking(p.cluster)
	}
	m.Fields(&p.round)
	memory.Map(m, &p.rows, memory.To((*row).Remember))
	memory.Slice(m, &p.stopped, memory.To((*row).Remember))
	p.program.remember(m, &p.o)
}

func (g *program) remember(m *memory.Codec, o *Options) {
	some := g.engine != nil
	m.Fields(&g.numbers, &g.items, &g.capacity, &some)
	if m.Decoding() && some {
		if err := g.start(o); err != nil {
			m.Fail("%w", err)
		}
	}
	if g.engine != nil {
		m.Fields(g.engine)
	}
}

func (r *row) Remember(m *memory.Codec) {
	memory.Shared(m, &r.perf)
	memory.Shared(m, &r.sensitivity)
	memory.Shared(m, &r.limits)
	m.Fields(&r.config, &r.number, &r.filed, &r.known, &r.seen)
	memory.Slice(m, &r.cells, func(c *cell, m *memory.Codec) { m.Fields(&c.CPUs, &c.Memory, &c.Rate, &c.worth) })
}
