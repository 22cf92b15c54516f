package scheduler

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// A Backend runs the jobs and provides the clock. It is a simulation, one machine, or a Kubernetes or Slurm cluster.
//
// Next waits for the next event and returns it, or returns a nil Event at the deadline. Events due at the deadline come
// before nil. A simulation may return nil early, when the jobs have done the steps of a round; a live backend may
// return it late, for example after the machine was suspended. Next returns io.EOF when nothing more can happen. Do
// starts to carry out actions; their results arrive as events.
type Backend interface {
	Now() time.Time
	Next(ctx context.Context, deadline time.Time) (Event, error)
	Do(ctx context.Context, actions []Action) error
}

// An Observer receives every event and decision of the scheduler, in order and in the scheduler's goroutine, for
// example to record them. It must not change them.
type Observer interface {
	Event(now time.Time, ev Event)
	Round(s *policy.Snapshot, p *policy.Plan, actions []Action)
}

// An Unreported is an Observer that does not need every progress report. A simulation may then skip reports that tell
// the scheduler nothing new (sim.Options.Sparse).
type Unreported interface {
	Observer
	Unreported()
}
