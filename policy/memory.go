package policy

import "github.com/oxgang/oxgang/internal/memory"

// A Rememberer is a policy whose plans depend on earlier rounds. A policy without this method, made the same way, plans alike
// whatever it was shown before.
//
// After a policy that was made the same way has read what this one wrote, both plan alike for ever, bit by bit. What may be left
// out is what follows from the next snapshot, and what was kept only to save time. Rows of jobs, specifications, models and the
// cluster are written as references (memory.Shared), because a policy may compare their addresses.
type Rememberer interface {
	Policy
	memory.Rememberer
}

// Remember implements memory.Rememberer.
func (d *Decision) Remember(m *memory.Codec) {
	m.Fields(&d.Allocation, &d.Placement, &d.Batch, &d.Why)
}

// Remember implements memory.Rememberer.
func (r *Reason) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&r.Kind), &r.Config, &r.Value, &r.Limit)
}
