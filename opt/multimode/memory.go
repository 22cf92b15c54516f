package multimode

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements memory.Rememberer.
func (s *Schedule) Remember(m *memory.Codec) {
	memory.Slice(m, &s.Runs, func(r *Run, m *memory.Codec) { m.Fields(&r.Mode, &r.Rounds) })
	m.Fields(&s.Value, &s.Bound, &s.Prices, &s.Solves, &s.Interrupted)
}
