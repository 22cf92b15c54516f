package pollux

import (
	"math/rand/v2"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

const (
	resets = 0.1 // to the job's present GPUs
	thins  = 0.1 // with probability zeroes each
	zeroes = 0.1
)

// mutate resets some rows, empties some elements, and hands out free GPUs to about one job of all and one on each
// virtual node.
func (r *round) mutate(x []int, src *rand.Rand) {
	n := len(r.slots)
	clear(r.used)
	clear(r.jobsAt)
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
				r.jobsAt[k]++
			}
		}
	}
	for k := range r.slots {
		if r.used[k] < r.free[k] {
			r.giveOut(x, k, src)
		}
	}
}

func (r *round) giveOut(x []int, k int, src *rand.Rand) {
	n := len(r.slots)
	anyone, present := 1/float64(len(r.seats)), 1/float64(max(1, r.jobsAt[k]))
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

// repair makes a matrix feasible by rows: usable types, one distributed job per virtual node, the limit, the GPUs
// left, a possible number. Source: Pollux §4.2.1.
func (r *round) repair(x []int, src *rand.Rand) {
	copy(r.room, r.free)
	copy(r.owner, r.held)
	n := len(r.slots)
	for i, t := range r.seats {
		if row := x[i*n : (i+1)*n]; slices.ContainsFunc(row, positive) {
			r.repairRow(t, row, src)
		}
	}
}

func (r *round) repairRow(t *seat, row []int, src *rand.Rand) {
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

// avoid removes a distributed job from nodes that have another. Source: Pollux §4.2.1.
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

func distributed(row []int) bool {
	nodes := 0
	for _, v := range row {
		if v > 0 {
			nodes++
		}
	}
	return nodes > 1
}

func (r *round) limit(t *seat, row []int, src *rand.Rand) {
	sum := 0
	for _, v := range row {
		sum += v
	}
	if most := max(t.most, r.atLeast(t, row)); sum > most {
		r.shed(row, sum-most, src)
	}
}

func (r *round) atLeast(t *seat, row []int) int {
	k := slices.IndexFunc(row, positive)
	if k < 0 || !t.gang {
		return 1
	}
	return least(t.job, r.types[r.slots[k].typeIndex].Type)
}

func (r *round) shed(row []int, gpus int, src *rand.Rand) {
	for last := len(r.order) - 1; gpus > 0 && last >= 0; last-- {
		at := src.IntN(last + 1)
		r.order[at], r.order[last] = r.order[last], r.order[at]
		k := r.order[last]
		n := min(gpus, row[k])
		row[k], gpus = row[k]-n, gpus-n
	}
}

func (r *round) settle(t *seat, row []int, src *rand.Rand) {
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

func (r *round) meets(row []int) bool {
	for k, v := range row {
		if v > 0 && r.owner[k] {
			return true
		}
	}
	return false
}

func (r *round) occupy(row []int) {
	for k, v := range row {
		r.room[k] -= v
	}
	mark(r.owner, row)
}

func mark(owner []bool, row []int) {
	if !distributed(row) {
		return
	}
	for k, v := range row {
		owner[k] = owner[k] || v > 0
	}
}

type slot struct {
	node      int
	typeIndex int
	gpus      int
	last      bool
}

// cut divides nodes into virtual nodes as large as the smallest, and remainders. Source: Sia §3.4.3, "Fixing
// mixed-GPU allocations from Pollux".
func cut(c *cluster.Cluster) []slot {
	size := 0
	for _, n := range c.Nodes() {
		if size == 0 || n.Capacity.GPUs < size {
			size = n.Capacity.GPUs
		}
	}
	var all []slot
	for i, n := range c.Nodes() {
		kind := slices.IndexFunc(c.Types(), func(t cluster.TypeInfo) bool { return t.Type == n.GPUType })
		for left := n.Capacity.GPUs; left > 0; left -= size {
			all = append(all, slot{node: i, typeIndex: kind, gpus: min(size, left), last: left <= size})
		}
	}
	return all
}

func (r *round) lay(row []int, where cluster.Placement, free []int) bool {
	all := true
	for _, share := range where {
		node, ok := r.s.Cluster.Index(share.Node)
		if !ok {
			all = false
			continue
		}
		left := share.GPUs
		if at := r.snug(node, left, free); at >= 0 {
			row[at], free[at], left = row[at]+left, free[at]-left, 0
		}
		for i := range r.slots {
			if n := min(left, free[i]); r.slots[i].node == node && n > 0 {
				row[i], free[i], left = row[i]+n, free[i]-n, left-n
			}
		}
		all = all && left == 0
	}
	return all
}

func (r *round) snug(node, gpus int, free []int) int {
	best := -1
	for i := range r.slots {
		if r.slots[i].node == node && free[i] >= gpus && (best < 0 || free[i] < free[best]) {
			best = i
		}
	}
	return best
}

func (r *round) placement(row []int) cluster.Placement {
	var where cluster.Placement
	gpus := 0
	for i, at := range r.slots {
		if gpus += row[i]; !at.last {
			continue
		}
		if gpus > 0 {
			t := &r.types[at.typeIndex]
			a := t.Proportional(cluster.Configuration{GPUs: gpus})
			where = append(where, cluster.Share{
				Node:      r.s.Cluster.Nodes()[at.node].ID,
				Resources: cluster.Resources{GPUs: gpus, CPUs: a.CPUs, Memory: a.Memory},
			})
		}
		gpus = 0
	}
	where.Sort()
	return where
}
