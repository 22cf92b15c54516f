package pollux

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

type reasons struct{ *round }

func (r reasons) decide(x []int) {
	n := len(r.slots)
	for i, t := range r.seats {
		row := x[i*n : (i+1)*n]
		d := &r.plan.Jobs[t.index]
		r.m.granted[t.job.ID] = row
		where := r.placement(row)
		if len(where) == 0 {
			d.Why = r.whyWaiting(t)
			continue
		}
		d.Allocation, d.Placement = r.allocation(row, where), where
		if where.SameGPUs(t.job.Placement) {
			d.Allocation, d.Placement = t.job.Allocation, t.job.Placement
		}
		d.Why = r.why(t, row, d)
	}
}

func (r reasons) allocation(row []int, where cluster.Placement) cluster.Allocation {
	t := &r.types[r.slots[slices.IndexFunc(row, positive)].typeIndex]
	return t.Proportional(cluster.Configuration{Nodes: len(where), GPUs: where.GPUs(), GPUType: t.Type})
}

// why adds speedups only if they are known and the GPU type stays, because Pollux has one speed for all types.
func (r reasons) why(t *seat, row []int, d *policy.Decision) policy.Reason {
	value := func(row []int) float64 {
		nodes, gpus, _ := r.shape(t, row)
		return t.speedup(nodes, gpus)
	}
	before, now := t.job.Allocation.Configuration, d.Allocation.Configuration
	why := policy.Reason{Config: before}
	if now.GPUType == before.GPUType && !t.belief.blind {
		why.Value, why.Limit = value(row), value(t.base)
	}
	switch {
	case !t.job.Holding():
		return policy.Reason{Kind: policy.Started}
	case d.Placement.SameGPUs(t.job.Placement):
		return policy.Reason{Kind: policy.AsPlanned}
	case now.GPUType != before.GPUType, now.GPUs == before.GPUs:
		why.Kind = policy.Moved
	case now.GPUs > before.GPUs:
		why.Kind = policy.Grown
	default:
		return policy.Reason{Kind: policy.Shrunk, Config: before}
	}
	return why
}

func (r reasons) whyWaiting(t *seat) policy.Reason {
	var why policy.Reason
	for kind, info := range r.types {
		if !t.usable[kind] {
			continue
		}
		need, free := least(t.job, info.Type), r.freeOf(r.room, kind)
		want := info.Fewest(need)
		if free >= need {
			return policy.Reason{Kind: policy.Evicted, Config: want}
		}
		if why.Kind == policy.Unexplained || need < why.Config.GPUs {
			why = policy.Reason{Kind: policy.WaitNoCapacity, Config: want, Value: float64(free), Limit: float64(need)}
		}
	}
	return why
}
