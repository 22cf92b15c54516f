// Package placement chooses the nodes on which each job gets its GPUs. It holds the interface of all placers, two of
// them (BestFit and Racks), and what placers share: the free resources of nodes (Room, Nodes), and the division of a
// node's CPUs and host memory among its jobs (Settler).
//
// A Settler does not move GPUs.
//
//	Synergy                               here
//	W_j[c, m]                             perf.Cell, Cell.Value relative to W_j[C_g, M_g]
//	demand vector                         Job.Wish
//	server with the least free resources  Nodes.BestFit
//	switch a job to its fair share        a Settler settles on a cell
package placement

import (
	"cmp"
	"context"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
)

// A BestFit is a Placer that places the largest workers first, each on the node in use with the fewest free GPUs that
// has room. It moves no running job. Its placements depend only on the snapshot and the plan.
//
// Source: Lyra §5.3: "Jobs are sorted in decreasing order of their per-worker GPU demand. Starting from the largest
// job, we place each worker of the job into a non-empty server that best fits its demand; if none has sufficient
// remaining resources, we place it on a new server."
//
// Deviation: all workers of a job go to one server if it has room for them, because then fewer jobs are preempted when
// servers are reclaimed.
type BestFit struct{}

// NewBestFit returns a BestFit.
func NewBestFit() *BestFit { return &BestFit{} }

// Place implements Placer. It keeps placements that the policy chose, and the nodes of a job with an unchanged
// allocation unless the policy placed another job there. A job without room gets nothing (policy.Evicted). It takes
// time linear in the nodes for each placed job.
func (*BestFit) Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	Confine(s, p)
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

// unit returns how many GPUs of job i must share a node: a worker's, or the granted GPUs divided by the
// granted nodes.
func unit(s *policy.Snapshot, p *policy.Plan, i int) int {
	a := &p.Jobs[i].Allocation
	if w := s.Jobs[i].WorkerGPUs; w > 0 && a.GPUs%w == 0 {
		return w
	}
	return (a.GPUs + a.Nodes - 1) / a.Nodes
}

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

func settle(a *cluster.Allocation, where cluster.Placement) {
	a.CPUs, a.Memory = 0, 0
	for k := range where {
		a.CPUs, a.Memory = a.CPUs+where[k].CPUs, a.Memory+where[k].Memory
	}
}

// A Placer chooses nodes for the allocations of a plan for which the policy chose none. It changes the plan in place
// and returns it.
//
// If there is no room for a job, it may take the job's allocation back (policy.Evicted). On nodes that state CPUs and
// memory, it decides how much of them each job gets, but a job is never slower than with the share proportional to its
// GPUs. The snapshot must lack the nodes that are returned to their owners (policy.Plan.Return).
type Placer interface {
	Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error)
}

// An Incremental is a Placer that accepts snapshots without the running jobs whose GPUs do not change
// (policy.Continuing), on clusters that do not count CPUs and memory. Its result is the same as with the complete
// snapshot.
type Incremental interface {
	Placer
	Incremental()
}
