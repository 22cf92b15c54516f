package scheduler

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// A Backend runs jobs and has the clock: a simulation, one machine or a Kubernetes cluster.
//
// Next returns the next event, or a nil Event at the deadline. Events at the deadline come
// before that. A backend may return nil early, when the jobs of its round have done their
// steps, or late, if it slept. Next returns io.EOF when nothing more can happen. Do starts
// to carry out actions; their results arrive as events.
type Backend interface {
	Now() time.Time
	Next(ctx context.Context, deadline time.Time) (Event, error)
	Do(ctx context.Context, actions []Action) error
}

// An Observer gets every event and decision of the scheduler, in order and on its goroutine. It must not change
// them.
type Observer interface {
	Event(now time.Time, ev Event)
	Round(s *policy.Snapshot, p *policy.Plan, actions []Action)
}

// An Unreported observer does not need reports that teach nothing (sim.Options.Sparse).
type Unreported interface {
	Observer
	Unreported()
}
