package pollux

import (
	"slices"

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
