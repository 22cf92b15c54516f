package local

import (
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A plan made before the scheduler heard that a job has ended may give it GPUs: that is
// nothing, not an error. Once it has heard, it is one.
func TestDo_for_a_job_that_has_just_ended(t *testing.T) {
	w := open(t, options(t, 4))
	id := w.shell(t, "one", "sleep 60", 1)
	if ev, err := w.Next(t.Context(), time.Now().Add(time.Hour)); err != nil || ev == nil {
		t.Fatalf("got %v, %v, want its submission", ev, err)
	}
	if err := w.Cancel(id); err != nil {
		t.Fatal(err)
	}
	run := []scheduler.Action{scheduler.Run{Job: id, Allocation: cluster.Allocation{
		Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "cpu"},
	}}}
	if err := w.Do(t.Context(), run); err != nil {
		t.Errorf("before the scheduler has heard: %v", err)
	}
	ev, err := w.Next(t.Context(), time.Now().Add(time.Hour))
	if exit, ok := ev.(scheduler.Exited); err != nil || !ok || exit.Outcome != scheduler.Cancelled {
		t.Fatalf("got %v, %v, want that it was cancelled", ev, err)
	}
	if err := w.Do(t.Context(), run); err == nil {
		t.Error("no error for a job that the scheduler knows has ended")
	}
	if len(w.Live()) > 0 {
		t.Errorf("live: %v, want none", w.Live())
	}
}

// What a job held that has just ended is given to one other job, not to two.
func TestDo_gives_away_what_a_job_held_once(t *testing.T) {
	w := open(t, options(t, 4))
	run := func(id job.ID, gpus int) scheduler.Action {
		c := cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "cpu"}
		return scheduler.Run{Job: id, Allocation: cluster.Allocation{Configuration: c}}
	}
	var ids []job.ID
	for _, name := range []string{"first", "ended", "last"} {
		ids = append(ids, w.shell(t, name, "exec sleep 1000", 1))
	}
	if err := w.Do(t.Context(), []scheduler.Action{run(ids[1], 2)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Cancel(ids[1]); err != nil {
		t.Fatal(err)
	}
	if err := w.Do(t.Context(), []scheduler.Action{run(ids[0], 2), run(ids[1], 1), run(ids[2], 1)}); err != nil {
		t.Fatal(err)
	}
	all := w.Live()
	if len(all) != 2 || !slices.Equal(all[0].Held, []int{0, 1}) || !slices.Equal(all[1].Held, []int{2}) {
		t.Errorf("got %+v, want slots 0 and 1, and 2", all)
	}
}
