package pollux

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

func (r *round) pin() {
	for i, j := range r.s.Jobs {
		d := &r.plan.Jobs[i]
		switch {
		case j.Phase == job.Profiling:
			d.Why.Kind = policy.WaitProfile
		case j.NonPreemptive && j.Holding():
			row := make([]int, len(r.slots))
			r.lay(row, j.Placement, r.free)
			mark(r.held, row)
			d.Allocation, d.Placement = j.Allocation, j.Placement
			d.Why = policy.Reason{Kind: policy.PinnedNonPreempt, Config: j.Allocation.Configuration}
		}
	}
	for _, held := range []bool{true, false} {
		for i, j := range r.s.Jobs {
			if !j.Reservation.IsZero() && r.plan.Jobs[i].Why.Kind == policy.Unexplained && j.Holding() == held {
				r.reserve(i)
			}
		}
	}
}

func (r *round) reserve(i int) {
	j, d := r.s.Jobs[i], &r.plan.Jobs[i]
	want := j.Reservation
	kind := r.reservable(want)
	if kind < 0 {
		d.Why = policy.Reason{Kind: policy.Impossible, Config: want}
		return
	}
	row, left := make([]int, len(r.slots)), slices.Clone(r.free)
	if j.Allocation.Configuration == want && r.lay(row, j.Placement, left) {
		r.free = left
		mark(r.held, row)
		d.Allocation, d.Placement = j.Allocation, j.Placement
		d.Why = policy.Reason{Kind: policy.Reserved, Config: want}
		return
	}
	if free := r.freeOf(r.free, kind); free < want.GPUs {
		d.Why = policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(free), Limit: float64(want.GPUs)}
		return
	}
	if clear(row); !r.spread(row, kind, want) {
		d.Why = policy.Reason{Kind: policy.Evicted, Config: want}
		return
	}
	take(r.free, row)
	mark(r.held, row)
	d.Allocation, d.Placement = r.types[kind].Proportional(want), r.placement(row)
	d.Why = policy.Reason{Kind: policy.Reserved, Config: want}
}

func (r *round) reservable(want cluster.Configuration) int {
	return slices.IndexFunc(r.types, func(t cluster.TypeInfo) bool {
		return t.Type == want.GPUType && want.GPUs <= t.GPUs && want.Nodes <= t.Nodes && want.Nodes >= 1 && want.GPUs >= want.Nodes
	})
}

func (r *round) freeOf(free []int, kind int) int {
	sum := 0
	for k, at := range r.slots {
		if at.typeIndex == kind {
			sum += free[k]
		}
	}
	return sum
}

func (r *round) spread(row []int, kind int, want cluster.Configuration) bool {
	var where cluster.Placement
	for _, n := range r.rooms(kind) {
		part := (want.GPUs + len(where)) / want.Nodes
		if len(where) < want.Nodes && n.free >= part {
			where = append(where, cluster.Share{Node: r.s.Cluster.Nodes()[n.node].ID, Resources: cluster.Resources{GPUs: part}})
		}
	}
	return len(where) == want.Nodes && r.lay(row, where, slices.Clone(r.free))
}

type room struct{ node, free int }

func (r *round) rooms(kind int) []room {
	var nodes []room
	for k, at := range r.slots {
		if at.typeIndex != kind {
			continue
		}
		if n := len(nodes) - 1; n >= 0 && nodes[n].node == at.node {
			nodes[n].free += r.free[k]
		} else {
			nodes = append(nodes, room{at.node, r.free[k]})
		}
	}
	slices.SortStableFunc(nodes, func(a, b room) int { return cmp.Compare(a.free, b.free) })
	return nodes
}

func (r *round) majority(t *seat, row []int) int {
	best, most := -1, 0
	for kind := range r.types {
		gpus := 0
		for k, v := range row {
			if r.slots[k].typeIndex == kind && t.usable[kind] {
				gpus += v
			}
		}
		if gpus > most || gpus == most && gpus > 0 && r.faster(t, kind, best, gpus) {
			best, most = kind, gpus
		}
	}
	return best
}

func (r *round) faster(t *seat, kind, than, gpus int) bool {
	if t.job.Perf == nil {
		return false
	}
	on := func(k int) float64 {
		return goodput(t.job, r.types[k].Fewest(gpus))
	}
	return on(kind) > on(than)
}

// trim leaves each job only the GPUs of its majority type. Source: Sia §3.4.3, "Fixing mixed-GPU allocations from
// Pollux".
func (r *round) trim(x []int) {
	n := len(r.slots)
	for i, t := range r.seats {
		row := x[i*n : (i+1)*n]
		only := r.majority(t, row)
		for k := range row {
			if r.slots[k].typeIndex != only {
				row[k] = 0
			}
		}
	}
}

func (r *round) start(x []int) {
	copy(r.room, r.free)
	copy(r.owner, r.held)
	n := len(r.slots)
	for row := range slices.Chunk(x, n) {
		r.occupy(row)
	}
	for i, t := range r.seats {
		row := x[i*n : (i+1)*n]
		for kind := 0; kind < len(r.types) && !slices.ContainsFunc(row, positive); kind++ {
			if t.usable[kind] {
				need := least(t.job, r.types[kind].Type)
				if r.fill(row, kind, need); !slices.ContainsFunc(row, positive) {
					r.alone(row, kind, need)
				}
				r.occupy(row)
			}
		}
	}
}

func (r *round) alone(row []int, kind, gpus int) {
	for k, at := range r.slots {
		if at.typeIndex == kind && r.room[k] >= gpus {
			row[k] = gpus
			return
		}
	}
}

func positive(v int) bool { return v > 0 }
