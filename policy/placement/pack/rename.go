package pack

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

type naming struct {
	count map[[2]int]int
	pairs []pair
	to    []int  // by node of the layout: its new node; -1: open
	used  []bool // by node: some node of the layout becomes it
}

type pair struct{ from, to, gpus int }

// rename exchanges the names of alike nodes so that many jobs are where they were, greedily by shared GPUs.
func (m *naming) rename(pl *Placer, l *layout) {
	m.countPairs(pl, l)
	nodes := pl.s.Cluster.Nodes()
	m.to, m.used = slices.Grow(m.to[:0], len(nodes))[:len(nodes)], slices.Grow(m.used[:0], len(nodes))[:len(nodes)]
	for n := range nodes {
		m.to[n], m.used[n] = -1, false
	}
	for i := range pl.settler.Jobs { // nodes of fixed jobs keep their names
		for _, share := range pl.settler.Jobs[i].Fixed {
			n, _ := pl.s.Cluster.Index(share.Node)
			m.to[n], m.used[n] = n, true
		}
	}
	for _, p := range m.pairs {
		if m.to[p.from] < 0 && !m.used[p.to] && alike(&nodes[p.from], &nodes[p.to]) {
			m.to[p.from], m.used[p.to] = p.to, true
		}
	}
	m.nameOthers(nodes)
	for _, i := range pl.order {
		for k := range l.slots[i] {
			l.slots[i][k].Node = m.to[l.slots[i][k].Node]
		}
	}
}

func (m *naming) countPairs(pl *Placer, l *layout) {
	if m.count == nil {
		m.count = make(map[[2]int]int)
	}
	clear(m.count)
	m.pairs = m.pairs[:0]
	for _, i := range pl.order {
		for _, a := range l.slots[i] {
			for _, b := range pl.held[i] {
				key := [2]int{a.Node, b.Node}
				if m.count[key] == 0 {
					m.pairs = append(m.pairs, pair{from: a.Node, to: b.Node})
				}
				m.count[key] += min(a.GPUs, b.GPUs)
			}
		}
	}
	for k := range m.pairs {
		m.pairs[k].gpus = m.count[[2]int{m.pairs[k].from, m.pairs[k].to}]
	}
	slices.SortFunc(m.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.gpus, a.gpus), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
}

func alike(a, b *cluster.Node) bool {
	return a.GPUType == b.GPUType && a.Capacity == b.Capacity
}

func (m *naming) nameOthers(nodes []cluster.Node) {
	for n := range m.to {
		if m.to[n] < 0 && !m.used[n] {
			m.to[n], m.used[n] = n, true
		}
	}
	for n := range m.to {
		if m.to[n] >= 0 {
			continue
		}
		for k := range m.used {
			if !m.used[k] && alike(&nodes[n], &nodes[k]) {
				m.to[n], m.used[k] = k, true
				break
			}
		}
	}
}
