package pollux

import "slices"

type settler struct{ *round }

// settleDown undoes needless moves after a change of nodes: equal GPUs and virtual nodes. Jobs in their place
// start elsewhere.
func (r settler) settleDown(x []int) {
	if !r.m.changed {
		return
	}
	if y := slices.Clone(x); r.stay(y) && r.displace(y) {
		copy(x, y)
	}
}

func (r settler) stay(x []int) bool {
	copy(r.room, r.free)
	copy(r.owner, r.held)
	n := len(r.slots)
	for i, t := range r.seats {
		row := x[i*n : (i+1)*n]
		if !r.stays(t, row) {
			continue
		}
		copy(row, t.base)
		if !take(r.room, row) {
			return false
		}
		mark(r.owner, row)
	}
	return true
}

func (r settler) stays(t *seat, row []int) bool {
	nodes, gpus, _ := r.shape(t, row)
	before, held, _ := r.shape(t, t.base)
	return !t.partial && gpus > 0 && nodes == before && gpus == held
}

func (r settler) displace(x []int) bool {
	n := len(r.slots)
	for i, t := range r.seats {
		row := x[i*n : (i+1)*n]
		if r.stays(t, row) {
			continue
		}
		if many := distributed(row); many && r.meets(row) || !take(r.room, row) && (many || !r.shift(row)) {
			return false
		}
	}
	return true
}

func (r settler) shift(row []int) bool {
	from := slices.IndexFunc(row, positive)
	for k, at := range r.slots {
		if at.typeIndex == r.slots[from].typeIndex && r.room[k] >= row[from] {
			row[k], row[from] = row[from], 0
			return take(r.room, row)
		}
	}
	return false
}
