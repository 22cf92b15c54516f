package lyra

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements policy.Rememberer. Caches are not stored.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Map(m, &p.bases, func(b *base, m *memory.Codec) { m.Fields(&b.on, &b.seen) })
}
