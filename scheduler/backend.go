package scheduler

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// A Backend runs jobs and tells the time: a simulation, one machine or a Kubernetes
// cluster.
//
// Next waits for the next event, at most until the deadline, and then returns a nil
// Event. It returns events at the deadline before that, and later ones only when it is
// called again. A backend whose rounds end early, when their jobs have done their steps,
// may return nil before the deadline, and one that slept may say a later time than the
// deadline with it. Next returns io.EOF when nothing more can happen.
// Do starts to carry out actions; their results arrive as events.
type Backend interface {
	Now() time.Time
	Next(ctx context.Context, deadline time.Time) (Event, error)
	Do(ctx context.Context, actions []Action) error
}

// An Observer is called with every event and every decision of the scheduler. It must not
// change what it gets. Observers run in order, on the scheduler's goroutine.
type Observer interface {
	Event(now time.Time, ev Event)
	Round(s *policy.Snapshot, p *policy.Plan, actions []Action)
}

// An Unreported observer does without reports that teach nothing (sim.Options.Sparse).
type Unreported interface {
	Observer
	Unreported()
}
