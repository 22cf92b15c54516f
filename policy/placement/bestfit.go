package bestfit

import (
	"cmp"
	"context"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// A Placer implements placement.Placer. Its placements depend on the snapshot and the plan
// alone.
type Placer struct{}

// New returns a Placer.
func New() *Placer { return &Placer{} }

// Place implements placement.Placer. Jobs that the policy placed are where it says, and jobs
// that have what they had stay where they are, unless the policy placed another there. The others are placed by decreasing worker; those for which
// there is no room get nothing (policy.Evicted). It takes time in proportion to the jobs and,
// for each that is placed, to the nodes. The only error is that of ctx.
func (*Placer) Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.Jobs, func(d policy.Decision) bool { return !d.Allocation.IsZero() && len(d.Placement) == 0 }) {
		return p, nil
	}
	room := NewRoom(s.Cluster)
	for i := range p.Jobs {
		room.Take(p.Jobs[i].Placement)
	}
	todo := stay(s, p, room)
	slices.SortStableFunc(todo, func(a, b int) int {
		return cmp.Compare(unit(s, p, b), unit(s, p, a))
	})
	for _, i := range todo {
		place(s, p, room, i)
	}
	return p, nil
}

// stay lets jobs stay that have what they had, where there is room left for them, and returns the
// others that are to be placed.
func stay(s *policy.Snapshot, p *policy.Plan, room *Room) (todo []int) {
	for i, j := range s.Jobs {
		d := &p.Jobs[i]
		switch {
		case d.Allocation.IsZero() || len(d.Placement) > 0:
		case d.Allocation == j.Allocation && len(j.Placement) > 0 && room.Holds(j.Placement):
			d.Placement = j.Placement
			room.Take(j.Placement)
		default:
			todo = append(todo, i)
		}
	}
	return todo
}

// unit returns the GPUs of job i that are to be on one node: a worker's; of a job without
// workers, what is granted over its nodes.
func unit(s *policy.Snapshot, p *policy.Plan, i int) int {
	a := &p.Jobs[i].Allocation
	if w := s.Jobs[i].WorkerGPUs; w > 0 && a.GPUs%w == 0 {
		return w
	}
	return (a.GPUs + a.Nodes - 1) / a.Nodes
}

// place places job i, or takes its allocation back.
func place(s *policy.Snapshot, p *policy.Plan, room *Room, i int) {
	d := &p.Jobs[i]
	a := &d.Allocation
	each := cluster.Resources{CPUs: a.CPUs / float64(a.GPUs), Memory: a.Memory / int64(a.GPUs)}
	where, ok := room.Place(Want{Type: a.GPUType, GPUs: a.GPUs, Unit: unit(s, p, i), Each: each})
	if !ok {
		*d = policy.Decision{Why: policy.Reason{Kind: policy.Evicted, Config: a.Configuration}}
		return
	}
	d.Placement = where
	a.Nodes = len(where)
	if t, ok := s.Cluster.Type(a.GPUType); ok && t.Counts() {
		settle(a, where)
	}
}

// settle makes an allocation what its placement holds: memory is cut into whole bytes.
func settle(a *cluster.Allocation, where cluster.Placement) {
	a.CPUs, a.Memory = 0, 0
	for k := range where {
		a.CPUs, a.Memory = a.CPUs+where[k].CPUs, a.Memory+where[k].Memory
	}
}
