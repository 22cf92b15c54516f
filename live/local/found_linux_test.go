package local

import (
	"testing"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// What the simulation has found, each by a test of its own.

// grant returns the action that gives a job slots.
func grant(id job.ID, n int) scheduler.Run {
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: n, GPUType: "cpu"}}
	return scheduler.Run{Job: id, Allocation: a, Placement: cluster.Placement{{Node: "box", Resources: cluster.Resources{GPUs: n}}}}
}

// still opens a backend whose executor does not run.
func still(t *testing.T, o Options, s *store.Store) *Backend {
	t.Helper()
	w, err := Open(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (b *Backend) elastic(t *testing.T, name string) job.ID {
	t.Helper()
	spec := &job.Spec{GPUs: 1, MaxGPUs: 4, Adaptivity: job.StrongScaling}
	id, err := b.Submit(name, spec, store.Request{Command: []string{"true"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func opened(t *testing.T, o Options) *store.Store {
	t.Helper()
	s, err := store.Open(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// In one plan, a job may grow by what a job after it gives up.
func TestDo_grows_before_it_shrinks(t *testing.T) {
	o := options(t, 4)
	w := still(t, o, opened(t, o))
	a, b := w.elastic(t, "a"), w.elastic(t, "b")
	if err := w.Do(t.Context(), []scheduler.Action{grant(a, 1), grant(b, 3)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Do(t.Context(), []scheduler.Action{grant(a, 3), grant(b, 1)}); err != nil {
		t.Fatal(err)
	}
	if n, m := len(w.jobs.ByID[a].Held), len(w.jobs.ByID[b].Held); n != 3 || m != 1 {
		t.Errorf("the jobs hold %d and %d slots, want 3 and 1", n, m)
	}
}

// A job whose program ended well while the scheduler was gone is done, also if its next start was
// planned already.
func TestOpen_after_a_success_that_was_to_stop(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	o := options(t, 4)
	s := opened(t, o)
	w := still(t, o, s)
	id := w.elastic(t, "a")
	spec := *w.jobs.ByID[id].Spec
	spec.NonPreemptive, spec.NoCheckpoint = false, false
	if err := w.jobs.describe(w.jobs.ByID[id], &spec); err != nil { // it has spoken
		t.Fatal(err)
	}
	if err := w.Do(t.Context(), []scheduler.Action{grant(id, 1)}); err != nil {
		t.Fatal(err)
	}
	x := w.executor()
	x.pass()
	dir := w.folders.Generation(w.jobs.ByID[id].name(w.jobs.ByID[id].runs[0]))
	await(t, "the end of its program", func() bool {
		state, err := supervisor.Look(dir)
		return err == nil && state.Phase == supervisor.Ended
	})
	if err := w.Do(t.Context(), []scheduler.Action{grant(id, 2)}); err != nil {
		t.Fatal(err)
	}
	again := still(t, o, s)
	again.executor().pass()
	jobs, err := s.Jobs(true)
	if err != nil || len(jobs) != 1 || jobs[0].Ended == nil || jobs[0].Ended.Outcome != scheduler.Done {
		t.Errorf("%+v (%v), want the job to be done", jobs[0], err)
	}
}
