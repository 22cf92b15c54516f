package sia

import "github.com/oxgang/oxgang/internal/memory"

// Remember saves and restores the state (policy.Rememberer).
func (p *Policy) Remember(m *memory.Codec) { m.Fields(p.program) }
