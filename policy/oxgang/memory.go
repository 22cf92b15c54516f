package oxgang

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
)

// Remember lets m save or restore the state that p keeps between rounds.
func (p *Policy) Remember(m *memory.Codec) {
	m.Fields(p.program, &p.stated, &p.influx, &p.round, &p.limit.easy, p.caps)
	if p.renter != nil {
		m.Fields(p.renter)
	}
	memory.Map(m, &p.jobs, func(s **state, m *memory.Codec) { memory.Copied(m, s, (*state).copied, (*state).Remember) })
	memory.Map(m, &p.classes, memory.To((*ended).Remember))
	memory.Map(m, &p.prices, memory.Float)
	memory.Map(m, (*map[cluster.Group]*forecast)(&p.owners), memory.To((*forecast).Remember))
}

func (s *state) copied() *state {
	c := *s
	c.factors = nil
	return &c
}

func (s *state) Remember(m *memory.Codec) {
	m.Fields((*string)(&s.class), &s.done, &s.left, &s.length, &s.path, &s.unsaved, &s.stated, &s.soon, &s.guessed, &s.counted, &s.contention, &s.upto,
		&s.slack, &s.granted, &s.refused, &s.refusals, &s.until, &s.ordered, &s.claims, &s.seen)
}

func (e *ended) Remember(m *memory.Codec) { m.Fields(&e.jobs, &e.work, &e.sum, &e.squares, &e.stated) }

func (t *track) Remember(m *memory.Codec) { m.Fields(&t.jobs, &t.squares) }

func (f *influx) Remember(m *memory.Codec) { m.Fields(&f.first, &f.last, &f.quiet, &f.jobs, &f.work) }

func (f *forecast) Remember(m *memory.Codec) { m.Fields(&f.due, &f.most, &f.least, &f.right, &f.wrong) }
