package local

import (
	"reflect"
	"testing"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/placement/submesh"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// restoredRow returns how a scheduler sees a job that learns of it from the store alone.
func (s *stage) restoredRow(id job.ID) *policy.Job {
	s.t.Helper()
	again, err := Open(s.store, s.o)
	if err != nil {
		s.t.Fatal(err)
	}
	so := scheduler.DefaultOptions()
	so.Profile = false
	sched, err := scheduler.New(shares{}, submesh.New(submesh.DefaultOptions()), again.Cluster(), so)
	if err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(100 * time.Millisecond); ; {
		ev, err := again.Next(s.t.Context(), deadline)
		if err != nil {
			s.t.Fatal(err)
		}
		if ev == nil {
			break
		}
		if _, err := sched.Step(again.Now(), ev); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, row := range sched.Snapshot(again.Now()).Jobs {
		if row.ID == id {
			return row
		}
	}
	s.t.Fatalf("job %s is not restored", id)
	return nil
}

// What was learned of a job, and what its program said of it, is in the store.
func TestBeliefs_survive(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 2))
	id, a := s.speaks("job")
	if status, text := a.patient("report", with(honest(1, 3), `"step_time":0.01`, `"step_time":0.02`)); status != 200 {
		t.Fatalf("got %d %s", status, text)
	}
	want, got := s.row(id), s.restoredRow(id)
	if want.Perf == nil || !reflect.DeepEqual(got.Perf, want.Perf) {
		t.Errorf("believed %+v, want %+v as before", got.Perf, want.Perf)
	}
	if got.Progress != want.Progress || !reflect.DeepEqual(got.Spec, want.Spec) || !reflect.DeepEqual(got.Allocation, want.Allocation) {
		t.Errorf("restored %+v %+v, want %+v %+v", got.Spec, got.Status, want.Spec, want.Status)
	}
}
