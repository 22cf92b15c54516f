package gavel

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
)

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) {
	o, active := &p.outcome, len(p.active)
	m.Fields(&p.free, &p.gpusChanged, &p.stale, &p.solved, &p.fresh, &p.planned, &p.rounds, &p.turnStart, &p.allReceived, &active)
	m.Fields(&o.objective, &o.bound, &o.prices, &o.iterations)
	memory.Slice(m, &p.types, func(t *cluster.GPUType, m *memory.Codec) { m.Fields((*string)(t)) })
	memory.Map(m, &p.accounts, memory.To((*account).Remember))
	if m.Decoding() {
		p.active = make([]*account, active) // only their number is used
	}
}

func (a *account) Remember(m *memory.Codec) {
	memory.Shared(m, &a.row)
	m.Fields(&a.done, &a.lastRound, &a.size, &a.rate, &a.pace, &a.step, &a.x, &a.owed, &a.solved, &a.received, &a.service, &a.last, &a.before, &a.charge)
	m.Fields(&a.fair.isolated, &a.fair.rate, &a.fair.done, &a.fair.speed)
}
