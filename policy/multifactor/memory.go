package multifactor

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) {
	m.Fields(&p.filled, &p.lasts, &p.used.total, &p.used.at, &p.nodes)
	memory.Map(m, &p.used.of, memory.Float)
	memory.Pointer(m, &p.plan, func(plan *policy.Plan, m *memory.Codec) { memory.Slice(m, &plan.Jobs, (*policy.Decision).Remember) })
	memory.Slice(m, &p.planned, func(j **policy.Job, m *memory.Codec) { memory.Shared(m, j) })
	memory.Shared(m, &p.on)
}

// Remember implements memory.Rememberer. It stores the free resources of nodes: computing them again from the jobs
// would round differently.
func (n *nodes) Remember(m *memory.Codec) {
	memory.Once(m, &n.cluster, (*cluster.Cluster).Remember)
	if m.Fields(&n.began); n.cluster == nil {
		return
	}
	if m.Decoding() {
		n.learn(n.cluster, n.began)
	}
	for i := range n.all {
		free := n.all[i].free
		if m.Fields(&free, &n.all[i].holds); m.Decoding() {
			n.leave(&n.all[i], free)
		}
	}
	memory.Slice(m, &n.ends, (*release).Remember)
	memory.Slice(m, &n.given, (*release).Remember)
	memory.Slice(m, &n.holders, func(h *holder, m *memory.Codec) {
		memory.Shared(m, &h.job)
		memory.Slice(m, &h.on, (*release).Remember)
	})
}

func (r *release) Remember(m *memory.Codec) { m.Fields(&r.at, &r.node, &r.Resources) }
