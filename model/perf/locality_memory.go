package perf

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
)

// Remember implements memory.Rememberer.
func (l *LocalityLearner) Remember(m *memory.Codec) {
	memory.Map(m, &l.pairs, func(all *[]stepPair, m *memory.Codec) {
		memory.Slice(m, all, func(p *stepPair, m *memory.Codec) {
			m.Fields(&p.under.on, &p.under.batch, &p.one.log, &p.one.n, &p.more.log, &p.more.n)
		})
	})
	memory.Map(m, (*map[job.Class]LocalityCost)(&l.costs), func(c *LocalityCost, m *memory.Codec) { m.Fields(&c.Times, &c.Pairs) })
	m.Fields(&l.stale)
}
