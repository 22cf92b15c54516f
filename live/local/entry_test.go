package local

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

// The time of the plan of a start stays until the next start is planned.
func TestEntry_commit(t *testing.T) {
	e := newEntry(&store.Job{Spec: &job.Spec{ID: "a"}})
	e.commit(&store.Change{Generation: 1})
	first := e.planned
	if first.IsZero() || time.Since(first) > time.Minute {
		t.Fatalf("planned at %v, want now", first)
	}
	e.uncommitted = true
	if e.commit(&store.Change{Generation: 1}); e.planned != first || e.uncommitted {
		t.Errorf("the same start: planned at %v, want %v; uncommitted %v", e.planned, first, e.uncommitted)
	}
	if e.commit(&store.Change{Generation: 2}); !e.planned.After(first) || e.Generation != 2 {
		t.Errorf("the next start: planned at %v, want after %v", e.planned, first)
	}
}
