package perf

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements memory.Rememberer.
func (p *Params) Remember(m *memory.Codec) {
	m.Fields(&p.AlphaC, &p.BetaC, &p.AlphaN, &p.BetaN, &p.AlphaR, &p.BetaR, &p.Gamma)
}

// Remember implements memory.Rememberer.
func (o *Observation) Remember(m *memory.Codec) {
	m.Fields(&o.Nodes, &o.Replicas, &o.Local, &o.Compute, &o.Step)
}

// Remember implements memory.Rememberer.
func (s *Sensitivity) Remember(m *memory.Codec) {
	memory.Slice(m, &s.CPUs, (*CPURate).Remember)
	m.Fields(&s.Input)
}

// Remember implements memory.Rememberer.
func (r *CPURate) Remember(m *memory.Codec) { m.Fields(&r.CPUs, &r.Rate) }
