package policy

import "github.com/oxgang/oxgang/internal/memory"

// A Rememberer is a policy whose plans depend on earlier rounds. It can save and restore what it knows of them:
// another policy, made the same way, then makes identical plans for ever. Data that follows from the next snapshot,
// and caches, may be left out. Job rows, specs, models and the cluster are written as references (memory.Shared),
// because a policy may compare their addresses.
//
// Other policies do not depend on earlier rounds.
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
