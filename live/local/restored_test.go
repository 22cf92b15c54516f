package local

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/scheduler"
)

// restoredRow returns how a scheduler sees a job that learns of it from the store alone.
func (s *stage) restoredRow(id job.ID) *policy.Job {
	s.t.Helper()
	again, err := Open(s.jobs.store, s.o)
	if err != nil {
		s.t.Fatal(err)
	}
	so := scheduler.DefaultOptions()
	so.Profile = false
	sched, err := scheduler.New(equalSplit{}, submesh.New(submesh.DefaultOptions()), again.Cluster(), so)
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

// A machine that has got another name is the same machine: a job there stays where it is.
func TestOpen_under_another_name(t *testing.T) {
	t.Parallel()
	s := newStage(t, options(t, 2))
	id, _ := s.speaks("job")
	o := s.o
	o.Machine.Name = "renamed"
	again, err := Open(s.jobs.store, o)
	if err != nil {
		t.Fatal(err)
	}
	e := again.jobs.ByID[id]
	if p := e.Status.Placement; len(p) != 1 || p[0].Node != "renamed" || p[0].GPUs != 1 || len(e.Held) != 1 {
		t.Errorf("placed %v on slots %v, want one GPU of the node by its new name", p, e.Held)
	}
}

// Cores on which processes of an earlier scheduler's run are not given to others; the token
// of a job that has ended, or none, is nobody's.
func TestOpen_with_processes_of_a_job_that_has_ended(t *testing.T) {
	o := options(t, 2)
	o.Machine.Cores = []int{0, 1}
	dir := filepath.Join(statedir.Folder(o.Dir, "old"), "1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "launch.json"), []byte(`{"workers":[{"cpus":[0]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	old := &store.Job{Spec: &job.Spec{ID: "old"}, Token: "old", Generation: 1}
	if err := errors.Join(s.Accept(old), s.End("old", store.Ending{Outcome: scheduler.Done, At: time.Now()})); err != nil {
		t.Fatal(err)
	}
	w, err := Open(s, o)
	if err != nil {
		t.Fatal(err)
	}
	jobs := []jobState{{ID: "next", Generation: 1, Slots: []int{0}, Cores: 1}}
	for _, e := range w.jobs.Order {
		j := e.state()
		j.Runs[0].Slots = []int{1} // they are not known: nothing would start
		jobs = append(jobs, j)
	}
	if _, starts := nextSteps(jobs, o.Machine.Cores, time.Now()); len(starts) != 1 || !slices.Equal(starts[0].Cores, []int{1}) {
		t.Errorf("starts %v, want one on core 1: on 0 others run", starts)
	}
	if id, err := w.Agents().Job(t.Context(), ""); err == nil {
		t.Errorf("no token: taken for that of job %s", id)
	}
}
