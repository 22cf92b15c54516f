package policy

import "github.com/oxgang/oxgang/internal/memory"

// A Rememberer is a policy whose plans depend on earlier rounds, and that can save and restore this state.
// A second policy, made with the same options and given the saved state, must return identical plans from
// then on. Caches, and data that follows from the next snapshot, need not be saved. Job rows, specs, models
// and the cluster are saved as references (memory.Shared), because a policy may compare their addresses.
//
// A policy that does not implement it must not depend on earlier rounds.
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
