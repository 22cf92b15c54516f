package copter

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements memory.Rememberer.
func (s *Solver) Remember(m *memory.Codec) {
	h := &s.shape
	m.Fields(&s.known, &s.x, &s.colStamp, &s.y, &s.theta, &s.all, &h.kind, &h.stamp, &h.index, &h.rows, &h.blocks, &h.loose, &h.size)
	m.Fields(&s.work.center, &s.work.size)
}
