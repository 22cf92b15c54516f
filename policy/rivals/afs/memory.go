package afs

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Shared(m, &p.cluster)
	m.Fields(&p.free)
	memory.Map(m, &p.lastDivision, func(a *share, m *memory.Codec) { m.Fields(&a.t, &a.gpus) })
}
