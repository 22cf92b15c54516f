package pollux

import (
	"slices"

	codec "github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

type memory struct {
	cluster *cluster.Cluster
	slots   []slot
	matrix  [][]int
	rows    []job.ID
	granted map[job.ID][]int
	changed bool // from the last round's
}

func (m *memory) on(c *cluster.Cluster) *memory {
	if m.cluster == c {
		return m
	}
	return m.probe(c)
}

func (m *memory) probe(c *cluster.Cluster) *memory {
	to := &memory{cluster: c, slots: cut(c), granted: make(map[job.ID][]int, len(m.granted)), changed: m.cluster != nil}
	from := m.sources(to)
	for id, row := range m.granted {
		to.granted[id] = carry(row, len(m.slots), from)
	}
	if len(to.slots) == 0 {
		return to
	}
	to.rows = append(to.rows, m.rows...)
	for _, x := range m.matrix {
		to.matrix = append(to.matrix, carry(x, len(m.slots), from))
	}
	return to
}

func (m *memory) sources(to *memory) []int {
	first := make(map[cluster.NodeID]int)
	for k, at := range slices.Backward(m.slots) {
		first[m.cluster.Nodes()[at.node].ID] = k
	}
	from := make([]int, len(to.slots))
	part := 0
	for k, at := range to.slots {
		old, ok := first[to.cluster.Nodes()[at.node].ID]
		if from[k] = -1; ok && m.has(old, part, at.gpus) {
			from[k] = old + part
		}
		if part++; at.last {
			part = 0
		}
	}
	return from
}

func (m *memory) has(first, part, gpus int) bool {
	k := first + part
	return k < len(m.slots) && m.slots[k].node == m.slots[first].node && m.slots[k].gpus == gpus
}

func carry(x []int, columns int, from []int) []int {
	var out []int
	for row := 0; row < len(x); row += columns {
		for _, k := range from {
			v := 0
			if k >= 0 {
				v = x[row+k]
			}
			out = append(out, v)
		}
	}
	return out
}

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
