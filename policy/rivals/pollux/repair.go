package pollux

import (
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

// Probabilities of mutation, of the public code.
const (
	resets = 0.1 // of a row: it returns to what the job holds
	thins  = 0.1 // of a row: its elements become zero with the probability
	zeroes = 0.1
)

// mutate returns some rows to what the jobs hold, empties some elements, and gives free
// GPUs out: on each virtual node to about one job, and one of those that are there.
func (r *round) mutate(x []int, src draw) {
	n := len(r.slots)
	clear(r.used)
	clear(r.there)
	for i, t := range r.seats {
		row := x[i*n : (i+1)*n]
		if src.Float64() < resets {
			copy(row, t.base)
		}
		if src.Float64() < thins {
			for k := range row {
				if src.Float64() < zeroes {
					row[k] = 0
				}
			}
		}
		for k, v := range row {
			if v > 0 {
				r.used[k] += v
				r.there[k]++
			}
		}
	}
	for k := range r.slots {
		if r.used[k] < r.free[k] {
			r.giveOut(x, k, src)
		}
	}
}

// giveOut raises elements of a column, which does not use all its GPUs.
func (r *round) giveOut(x []int, k int, src draw) {
	n := len(r.slots)
	anyone, present := 1/float64(len(r.seats)), 1/float64(max(1, r.there[k]))
	for i := k; i < len(x); i += n {
		chance := anyone
		if x[i] > 0 {
			chance += present - anyone*present
		}
		if src.Float64() < chance {
			x[i] += src.IntN(r.free[k] - x[i] + 1)
		}
	}
}

// repair makes a matrix one that can be granted, row after row: GPU types the job may
// use, at most one distributed job on a virtual node, the job's limit, what is left of
// the virtual nodes, and a number of GPUs that the job can run on, or none.
// Source: Pollux §4.2.1.
func (r *round) repair(x []int, src draw) {
	copy(r.room, r.free)
	copy(r.owner, r.held)
	n := len(r.slots)
	for i, t := range r.seats {
		if row := x[i*n : (i+1)*n]; slices.ContainsFunc(row, positive) {
			r.repairRow(t, row, src)
		}
	}
}

// repairRow makes a row that is not empty one that can be granted beside those before it.
func (r *round) repairRow(t *seat, row []int, src draw) {
	if t.gang || !t.anywhere {
		r.keepTypes(t, row)
	}
	r.avoid(row)
	r.limit(t, row, src)
	for k, v := range row {
		row[k] = min(v, r.room[k])
	}
	if t.gang {
		r.settle(t, row, src)
	}
	r.occupy(row)
}

// keepTypes empties the slots of GPU types that the job may not use, and for a gang of
// all but the one it has most of.
func (r *round) keepTypes(t *seat, row []int) {
	only := -1
	if t.gang {
		only = r.majority(t, row)
	}
	for k := range row {
		if kind := r.slots[k].typeIndex; !t.usable[kind] || only >= 0 && kind != only {
			row[k] = 0
		}
	}
}

// avoid takes a distributed job off virtual nodes on which there is another.
// Source: Pollux §4.2.1.
func (r *round) avoid(row []int) {
	if !distributed(row) {
		return
	}
	for k := range row {
		if r.owner[k] {
			row[k] = 0
		}
	}
}

// distributed reports whether a row is on more than one virtual node.
func distributed(row []int) bool {
	nodes := 0
	for _, v := range row {
		if v > 0 {
			nodes++
		}
	}
	return nodes > 1
}

// limit takes GPUs beyond the job's limit off virtual nodes at random.
func (r *round) limit(t *seat, row []int, src draw) {
	sum := 0
	for _, v := range row {
		sum += v
	}
	if most := max(t.most, r.atLeast(t, row)); sum > most {
		r.shed(row, sum-most, src)
	}
}

// atLeast returns the least GPUs of a gang on the type of its row, 1 for others.
func (r *round) atLeast(t *seat, row []int) int {
	k := slices.IndexFunc(row, positive)
	if k < 0 || !t.gang {
		return 1
	}
	return least(t.job, r.types[r.slots[k].typeIndex].Type)
}

// shed takes so many GPUs off a row, from virtual nodes at random.
func (r *round) shed(row []int, gpus int, src draw) {
	for last := len(r.order) - 1; gpus > 0 && last >= 0; last-- {
		at := src.IntN(last + 1)
		r.order[at], r.order[last] = r.order[last], r.order[at]
		k := r.order[last]
		n := min(gpus, row[k])
		row[k], gpus = row[k]-n, gpus-n
	}
}

// settle gives a gang a number of GPUs that it can run on: it takes some off, adds some
// that are left on the same type, or takes all.
func (r *round) settle(t *seat, row []int, src draw) {
	sum, first := 0, slices.IndexFunc(row, positive)
	if first < 0 {
		return
	}
	for _, v := range row {
		sum += v
	}
	kind := r.slots[first].typeIndex
	need := least(t.job, r.types[kind].Type)
	if t.job.Adaptivity.Has(job.GPUCount) {
		whole := t.job.ReplicaGPUs(r.types[kind].Type)
		need = max(need, min(sum, t.most)/whole*whole)
	}
	if sum > need {
		r.shed(row, sum-need, src)
	} else {
		r.fill(row, kind, need-sum)
	}
}

// fill adds GPUs of a type that are left, first where the row has some, or empties the
// row if there are too few, or another distributed job is in the way.
func (r *round) fill(row []int, kind, gpus int) {
	for _, own := range []bool{true, false} {
		for k, v := range row {
			if r.slots[k].typeIndex == kind && v > 0 == own && (own || !r.owner[k]) {
				n := min(gpus, r.room[k]-v)
				row[k], gpus = v+n, gpus-n
			}
		}
	}
	if gpus > 0 || distributed(row) && r.meets(row) {
		clear(row)
	}
}

// meets reports whether a row shares a virtual node with a distributed job.
func (r *round) meets(row []int) bool {
	for k, v := range row {
		if v > 0 && r.owner[k] {
			return true
		}
	}
	return false
}

// occupy takes a row's GPUs off what is left.
func (r *round) occupy(row []int) {
	for k, v := range row {
		r.room[k] -= v
	}
	mark(r.owner, row)
}

// mark marks the virtual nodes of a row that is distributed.
func mark(owner []bool, row []int) {
	if !distributed(row) {
		return
	}
	for k, v := range row {
		owner[k] = owner[k] || v > 0
	}
}
