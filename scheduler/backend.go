package scheduler

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// A Backend runs the jobs and has the clock: a simulation, one machine or a Kubernetes cluster.
//
// Next waits for the next event and returns it, or a nil Event at the deadline. Events at the deadline come first. A
// backend may return nil early, when the jobs of its round have done their steps, or late, if it slept. Next returns
// io.EOF when nothing more can happen. Do starts to carry out actions; their results arrive as events.
type Backend interface {
	Now() time.Time
	Next(ctx context.Context, deadline time.Time) (Event, error)
	Do(ctx context.Context, actions []Action) error
}

// An Observer receives every event and decision of the scheduler, in order and on its goroutine, for example to
// record them. It must not change them.
type Observer interface {
	Event(now time.Time, ev Event)
	Round(s *policy.Snapshot, p *policy.Plan, actions []Action)
}

// An Unreported is an Observer that does not need every progress report of a job, so that a simulation can skip those
// from which nothing is learned (sim.Options.Sparse).
type Unreported interface {
	Observer
	Unreported()
}
