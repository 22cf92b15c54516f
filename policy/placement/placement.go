// Package placement chooses the nodes that carry the GPUs of a plan. It holds the interface of all
// placers, and two of them: BestFit and Racks.
package placement

import (
	"context"

	"github.com/oxgang/oxgang/policy"
)

// A Placer chooses nodes for the allocations of a plan without a placement. It returns the plan that it was
// given, changed in place.
//
// It may take an allocation back (policy.Evicted) if no placement exists. If nodes count CPUs and memory, the
// placer decides them: a job may get less or more than the plan says, but is never slower than with its
// GPU-proportional share. It changes nothing else. The nodes of policy.Plan.Return are not in the snapshot.
type Placer interface {
	Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error)
}

// An Incremental is a Placer that also accepts snapshots with continuing jobs (policy.Continuing)
// on clusters without CPUs and memory. Its result is the same as if these jobs were in the snapshot
// and the plan gave their placements.
type Incremental interface {
	Placer
	Incremental()
}
