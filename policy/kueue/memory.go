package kueue

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) {
	m.Fields(&p.next)
	memory.Map(m, &p.admitted, func(a *admission, m *memory.Codec) { m.Fields(&a.flavor, &a.number) })
}
