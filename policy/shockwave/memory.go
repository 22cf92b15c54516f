package shockwave

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/opt/multimode"
)

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *memory.Codec) {
	memory.Shared(m, &p.cluster)
	m.Fields(&p.free, &p.failed)
	memory.Map(m, &p.accounts, memory.To((*account).Remember))
	memory.Once(m, &p.window, (*window).Remember)
}

func (a *account) Remember(m *memory.Codec) {
	memory.Shared(m, &a.row)
	memory.Pointer(m, &a.predictor, (*Predictor).Remember)
	m.Fields(&a.lastRound, &a.unpredictable, &a.batch, &a.epochs, &a.contention, &a.updated, &a.skew, &a.expectation)
}

func (e *expectation) Remember(m *memory.Codec) {
	memory.Slice(m, &e.options, func(o *option, m *memory.Codec) {
		m.Fields(&o.typeIndex, &o.Configuration)
		memory.Slice(m, (*[]stretch)(&o.ahead), func(s *stretch, m *memory.Codec) { m.Fields(&s.progress, &s.rate) })
	})
	m.Fields(&e.guessed, &e.total, &e.done, &e.past, &e.start, &e.alone, &e.fastest, &e.leanest)
}

func (w *window) Remember(m *memory.Codec) {
	m.Fields(&w.first, &w.rounds, &w.free)
	memory.Slice(m, &w.types, func(t *cluster.GPUType, m *memory.Codec) { m.Fields((*string)(t)) })
	memory.Map(m, &w.batches, memory.Number)
	memory.Map(m, &w.runs, func(r *run, m *memory.Codec) { m.Fields(&r.Configuration, &r.Mode, &r.Rounds) })
	memory.Pointer(m, &w.solved, (*multimode.Schedule).Remember)
}
