package submesh

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

func (pl *Placer) resize(i int) bool {
	stay := pl.stayingSlots(i)
	if stay == nil {
		return false
	}
	c, more := &pl.claims[i], pl.p.Jobs[i].Allocation.GPUs
	for _, s := range stay {
		pl.nodes[s.node].free -= s.gpus
		pl.bookHost(int32(i), s.node, s.gpus)
		more -= int(s.gpus)
	}
	c.slots, c.own = append(c.slots, stay...), len(stay)
	if more > 0 {
		pl.pending = append(pl.pending, piece{job: int32(i), class: scatter, size: int32(more), nodes: 1, odd: true})
	}
	return true
}

// stayingSlots returns the GPUs that a resized job keeps, in whole workers, mostly on its largest shares; nil if
// it must move.
func (pl *Placer) stayingSlots(i int) []slot {
	j, a := pl.s.Jobs[i], &pl.p.Jobs[i].Allocation
	if !resizes(j, a) {
		return nil
	}
	held := slices.Clone(j.Placement)
	slices.SortStableFunc(held, func(x, y cluster.Share) int { return cmp.Compare(y.GPUs, x.GPUs) })
	var stay []slot
	left, worker := min(a.GPUs, j.Allocation.GPUs), max(1, j.WorkerGPUs)
	for _, share := range held {
		n, ok := pl.cluster.Index(share.Node)
		g := min(left, share.GPUs) / worker * worker
		if !ok || int(pl.nodes[n].free) < g {
			return nil
		}
		if left -= g; g > 0 {
			stay = append(stay, slot{int32(n), int32(g)})
		}
	}
	if left > 0 {
		return nil
	}
	return stay
}

func resizes(j *policy.Job, a *cluster.Allocation) bool {
	return j.Resizes && j.Phase == job.Running && len(j.Placement) > 0 && j.Allocation.GPUType == a.GPUType && !j.Allocation.Mixed() && !a.Mixed()
}

func (pl *Placer) stop(i int32) {
	pl.giveBack(i, pl.claims[i].own)
	d, j := &pl.p.Jobs[i], pl.s.Jobs[i]
	why := policy.Reason{Kind: policy.KeptNoPlace, Config: d.Allocation.Configuration}
	*d, pl.reverted = policy.Decision{Allocation: j.Allocation, Why: why}, true
}
