package sia

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) { m.Fields(p.program) }
