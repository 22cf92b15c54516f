package placement

import "github.com/oxgang/oxgang/model/cluster"

type answer struct {
	taken cluster.Resources
	keys  []key
	value float64
}

type key struct {
	cells *Cell
	n     int
	gpus  int
	cell  int
}

func (st *Settler) recall(n int) (value float64, ok bool) {
	a, k := &st.nodes[n].last, 0
	if a.taken != st.nodes[n].taken {
		return 0, false
	}
	for _, t := range st.nodes[n].jobs {
		if t.wide {
			continue
		}
		c := st.Jobs[t.job].Cells
		if k == len(a.keys) || a.keys[k].cells != &c[0] || a.keys[k].n != len(c) || a.keys[k].gpus != t.gpus {
			return 0, false
		}
		k++
	}
	if k != len(a.keys) {
		return 0, false
	}
	k = 0
	for _, t := range st.nodes[n].jobs {
		if !t.wide {
			st.Jobs[t.job].Cell = a.keys[k].cell
			k++
		}
	}
	return a.value, true
}

func (st *Settler) remember(n int, value float64) {
	a := &st.nodes[n].last
	a.taken, a.value, a.keys = st.nodes[n].taken, value, a.keys[:0]
	for _, t := range st.nodes[n].jobs {
		if !t.wide {
			j := &st.Jobs[t.job]
			a.keys = append(a.keys, key{&j.Cells[0], len(j.Cells), t.gpus, j.Cell})
		}
	}
}
