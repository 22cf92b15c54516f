package pollux

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A memory is what was found for a cluster in the last round. The zero value is that of
// no cluster.
type memory struct {
	cluster *cluster.Cluster
	slots   []slot
	matrix  [][]int          // the last population
	rows    []job.ID         // of its matrices
	granted map[job.ID][]int // GPUs by slot, as granted
	changed bool             // the cluster was another one in the last round
}

// on returns what m says of a cluster: m itself if it is of it, and else a copy, with
// what was on virtual nodes that the cluster has too, so that the search goes on when
// nodes come and go.
func (m *memory) on(c *cluster.Cluster) *memory {
	if m.cluster == c {
		return m
	}
	return m.probe(c)
}

// probe returns what m says of a cluster, in a memory of its own.
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

// sources returns by slot of another cluster the slot of m that is the same part of the
// same node; -1: there is none.
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

// has reports whether the node that begins at a slot has a part with so many GPUs.
func (m *memory) has(first, part, gpus int) bool {
	k := first + part
	return k < len(m.slots) && m.slots[k].node == m.slots[first].node && m.slots[k].gpus == gpus
}

// carry returns the rows of a matrix with so many columns, of which those named are
// left, in that order; -1 is an empty one.
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
