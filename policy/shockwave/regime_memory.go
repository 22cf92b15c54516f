package shockwave

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements memory.Rememberer.
func (p *Predictor) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&p.rule), &p.epochs, &p.seen, &p.present, &p.stated)
	memory.Slice(m, &p.regimes, func(r *Regime, m *memory.Codec) { m.Fields(&r.BatchSize, &r.Seen, &r.Expected) })
}
