package boa

import (
	"errors"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
)

// Remember saves and restores the policy's state (policy.Rememberer). After the first plan the state can be restored
// only in the same process, because it refers to statistics of job classes that are in memory; in another process m
// reports an error.
func (p *Policy) Remember(m *memory.Codec) {
	working := p.work != nil
	if !m.Sharing() && !p.at.IsZero() {
		m.Fail("boa: widths: %w", errors.ErrUnsupported)
	}
	m.Fields(&p.ledger.begun, &p.rate, &p.fill.at, &p.fill.used, &p.fill.gpus, &p.fill.had, &p.fill.paid, &p.at, &p.failed, &working)
	memory.Slice(m, &p.ledger.points, func(at *point, m *memory.Codec) { m.Fields(&at.at, &at.spent, &at.width) })
	memory.Slice(m, &p.nodes, (*cluster.Rental).Remember)
	memory.Map(m, &p.needs, func(all *[]need, m *memory.Codec) {
		memory.Slice(m, all, func(n *need, m *memory.Codec) { m.Fields(&n.at, &n.nodes) })
	})
	memory.Map(m, &p.tickets, memory.Float)
	memory.Map(m, &p.drawn, memory.Number)
	memory.Shared(m, &p.widths)
	memory.Slice(m, &p.asked.classes, func(c **perf.ClassStats, m *memory.Codec) { memory.Shared(m, c) })
	memory.Slice(m, &p.asked.offers, (*cluster.Offer).Remember)
	if m.Fields(&p.asked.budget, &p.asked.fill); m.Decoding() && working {
		p.work = p.computing()
	}
}
