// Package placement decides where: which nodes carry the GPUs that a plan
// grants.
package placement

import (
	"context"

	"github.com/oxgang/oxgang/policy"
)

// A Placer fills in the placements of a plan that have none. It may take an
// allocation back (policy.Evicted) where no placement exists. Where nodes count
// CPUs and memory it has the last word on those: a job may get less or more than
// the plan says, but never less than it needs to be as fast as with its
// GPU-proportional share. It changes nothing else, and returns the plan it was
// given, changed in place. The snapshot is without the nodes that the plan gives back.
type Placer interface {
	Place(ctx context.Context, s *policy.Snapshot, p *policy.Plan) (*policy.Plan, error)
}

// A Beside is a Placer that also places plans of snapshots with continuing jobs, where no node counts CPUs and
// memory: as if these jobs were there and the plan named their placements.
type Beside interface {
	Placer
	Beside()
}
