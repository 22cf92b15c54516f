package agentapi

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// The server forgets a job when it has ended, not when its GPUs were lost or something else happened.
func TestForgetter(t *testing.T) {
	s := &Server{known: map[job.ID]*account{"a": {}}}
	f := s.Forgetter()
	for _, ev := range []scheduler.Event{scheduler.Submitted{Spec: &job.Spec{ID: "a"}}, scheduler.Exited{Job: "a", Outcome: scheduler.Lost}, scheduler.Exited{Job: "b"}} {
		if f.Event(time.Time{}, ev); s.known["a"] == nil {
			t.Errorf("%+v: the job is forgotten", ev)
		}
	}
	if f.Event(time.Time{}, scheduler.Exited{Job: "a", Outcome: scheduler.Done}); len(s.known) > 0 {
		t.Error("a job that is done is not forgotten")
	}
}
