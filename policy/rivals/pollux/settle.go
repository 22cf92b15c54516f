package pollux

import "slices"

// settler keeps jobs where they are.
type settler struct{ *round }

// settleDown lets jobs that the search moved to as many GPUs of as many virtual nodes stay
// where they are, and those that would start there start elsewhere, if the cluster has just
// changed. Speedups stay the same, with fewer restarts.
func (r settler) settleDown(x []int) {
	if !r.m.changed {
		return
	}
	if y := slices.Clone(x); r.stay(y) && r.displace(y) {
		copy(x, y)
	}
}

// stay gives jobs back what they hold that have as many GPUs of as many virtual nodes, and
// reports whether that is all there.
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

// stays reports whether a row is as many GPUs of as many virtual nodes as a job holds, all of
// which it can keep: what is left of a gang may be too few on its GPU type.
func (r settler) stays(t *seat, row []int) bool {
	nodes, gpus, _ := r.shape(t, row)
	before, held, _ := r.shape(t, t.base)
	return !t.torn && gpus > 0 && nodes == before && gpus == held
}

// displace gives the other jobs what they have, or if that is taken, as much on another virtual
// node. It reports whether all get that, and no two distributed jobs are on one virtual node.
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

// shift moves a row that is on one virtual node to the first of its type with as many GPUs
// left, takes those, and reports whether there is one.
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
