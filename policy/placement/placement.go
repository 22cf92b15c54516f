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
	"context"

	"github.com/oxgang/oxgang/policy"
)

// A Placer chooses nodes for the allocations of a plan for which the policy chose none. It changes the plan in place
// and returns it.
//
// If there is no room for a job, it may take the job's allocation back (policy.Evicted). On nodes that state CPUs and
// memory, it decides how much of them each job gets. This may differ from the plan, but a job is never slower than with
// the share proportional to its GPUs. It changes nothing else. The caller removes nodes that are returned to their
// owners (policy.Plan.Return) from the snapshot.
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
