package pollux

import (
	codec "github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Remember implements policy.Rememberer.
func (p *Policy) Remember(m *codec.Codec) {
	codec.Map(m, &p.beliefs, codec.To((*belief).Remember))
	codec.Pointer(m, &p.last, (*memory).Remember)
}

// Remember implements policy.Rememberer.
func (a *Autoscaler) Remember(m *codec.Codec) {
	m.Fields(a.pollux, &a.started, &a.wanted, &a.size, &a.recent)
}

func (b *belief) Remember(m *codec.Codec) {
	codec.Shared(m, &b.model)
	codec.Shared(m, &b.limits)
	m.Fields((*string)(&b.reference), &b.chosen, &b.blind, &b.lastRound)
	codec.Slice(m, &b.goodput, func(by *[]float64, m *codec.Codec) { m.Fields(by) })
}

func (f *memory) Remember(m *codec.Codec) {
	codec.Once(m, &f.cluster, (*cluster.Cluster).Remember)
	if m.Fields(&f.changed); m.Decoding() && f.cluster != nil {
		f.slots = cut(f.cluster)
	}
	codec.Slice(m, &f.matrix, numbers)
	codec.Slice(m, &f.rows, func(id *job.ID, m *codec.Codec) { m.Fields((*string)(id)) })
	codec.Map(m, &f.granted, numbers)
}

func numbers(row *[]int, m *codec.Codec) { m.Fields(row) }
