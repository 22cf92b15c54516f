package gandiva

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
)

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) {
	m.Fields(&p.next, &p.round)
	memory.Slice(m, &p.line, memory.To((*turn).Remember))
	if m.Decoding() {
		p.turns = make(map[job.ID]*turn, len(p.line))
		for _, t := range p.line {
			p.turns[t.id] = t
		}
	}
}

func (t *turn) Remember(m *memory.Codec) { m.Fields((*string)(&t.id), &t.runs, &t.since, &t.lastRound) }
