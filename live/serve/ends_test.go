package serve

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/scheduler"
)

// Who prunes is woken whenever so many jobs have ended, however often others are lost.
func TestEnds(t *testing.T) {
	e := newEnds()
	for range pruneAfter - 1 {
		e.Event(time.Time{}, scheduler.Exited{Job: "a", Outcome: scheduler.Done})
		e.Event(time.Time{}, scheduler.Exited{Job: "a", Outcome: scheduler.Lost})
	}
	if len(e.many) > 0 {
		t.Errorf("woken after %d jobs, want %d", pruneAfter-1, pruneAfter)
	}
	for range 2*pruneAfter + 1 {
		e.Event(time.Time{}, scheduler.Exited{Job: "a", Outcome: scheduler.Failed})
	}
	if len(e.many) != 1 {
		t.Error("not woken")
	}
}
