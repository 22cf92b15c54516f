package pop

import (
	"errors"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
)

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Once(m, &p.cluster, (*cluster.Cluster).Remember)
	if m.Decoding() && p.cluster != nil {
		p.types = p.cluster.Types()
	}
	memory.Map(m, &p.node, memory.Number)
	memory.Map(m, &p.job, memory.Number)
	for part, inner := range p.inner {
		memory.Once(m, &p.clusters[part], (*cluster.Cluster).Remember)
		if p.computed[part] != nil && !m.Sharing() {
			m.Fail("pop: result of background work: %w", errors.ErrUnsupported)
		}
		memory.Shared(m, &p.computed[part])
		if of, remembers := inner.(memory.Rememberer); remembers {
			m.Fields(of)
		}
	}
}
