// Package placement chooses the nodes on which each job gets its GPUs. It holds the interface of all placers, and two
// of them: BestFit and Racks.
package placement

import (
	"context"

	"github.com/oxgang/oxgang/policy"
)

// A Placer chooses nodes for the allocations of a plan for which the policy chose none. It changes the plan in place
// and returns it.
//
// If there is no room, it may take an allocation back (policy.Evicted). On nodes that state CPUs and memory, it
// decides them: a job may get less or more than the plan grants, but is never slower than with the share proportional
// to its GPUs. It changes nothing else. The nodes of policy.Plan.Return are not in the snapshot.
type Placer interface {
	Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error)
}

// An Incremental is a Placer that accepts snapshots without the jobs that simply continue (policy.Continuing), on
// clusters without CPUs and memory. Its result is the same as if these jobs were in the snapshot and the plan named
// their nodes.
type Incremental interface {
	Placer
	Incremental()
}
