package scheduler

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/policy"
)

// A Backend is a world: who makes time pass and who runs steps.
//
// Next waits for the next event, but not past the deadline: then it returns a
// nil Event. Events at the deadline come before it; later ones wait. A world whose
// rounds end when the jobs in them are through returns nil before the deadline. Next
// returns io.EOF when nothing more can happen. Do starts carrying out actions;
// what comes of them arrives as events.
type Backend interface {
	Now() time.Time
	Next(ctx context.Context, deadline time.Time) (Event, error)
	Do(ctx context.Context, actions []Action) error
}

// An Observer sees everything the scheduler sees and decides. What it is shown
// is immutable. Observers run in order, on the scheduler's goroutine.
type Observer interface {
	Event(now time.Time, ev Event)
	Round(s *policy.Snapshot, p *policy.Plan, actions []Action)
}
