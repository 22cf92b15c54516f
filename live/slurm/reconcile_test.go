package slurm

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/slurmtest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// passed has a Backend pass twice, and returns the outcomes of jobs that the scheduler hears of.
func passed(t *testing.T, w *Backend) map[job.ID]scheduler.Outcome {
	t.Helper()
	all := map[job.ID]scheduler.Outcome{}
	for range 2 {
		if err := w.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		for {
			ev, _, err := w.Take(time.Now().Add(time.Hour))
			if ev == nil || err != nil {
				break
			}
			if exit, ok := ev.(scheduler.Exited); ok {
				all[exit.Job] = exit.Outcome
			}
		}
	}
	return all
}

// A job that Slurm starts at once, on GPUs that are planned for another, keeps them: the other loses its plan, so that no plan
// has GPUs twice.
func TestReconcile_started_by_slurm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const whole = "oxgang:elastic;min=4;max=4"
		s := slurmtest.New(slurmtest.Node("n1", "a100", 4))
		w := open(t, s)
		planned := jobID(s.Submit(slurmtest.Ask{PerNode: 4, Work: 4000, Comment: whole, Begin: time.Minute}))
		passed(t, w)
		gpus := cluster.Resources{GPUs: 4}
		if err := w.Do(t.Context(), []scheduler.Action{scheduler.Run{
			Job: planned, Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"}},
			Placement: cluster.Placement{{Node: "n1", Resources: gpus}},
		}}); err != nil {
			t.Fatal(err)
		}
		started := jobID(s.Submit(slurmtest.Ask{PerNode: 4, Work: 4000, Comment: whole}))
		got := passed(t, w)
		if outcome, over := got[planned]; !over || outcome != scheduler.Lost || len(got) != 1 {
			t.Errorf("the scheduler hears %v, want that %s has lost what was planned, alone", got, planned)
		}
		if e, err := w.Get(started); err != nil || !e.wants() {
			t.Errorf("the job that runs has %+v, %v, want its GPUs", e, err)
		}
	})
}

// A job that slurmctld shows as before its start, after it was killed, is not started at once: Slurm would drain a node that still runs it.
// One that was requeued is.
func TestReconcile_older_state(t *testing.T) {
	for _, older := range []bool{true, false} {
		staged(t, func(t *testing.T, d *drama) {
			id, back := d.ids["a"], d.slurm.Requeue
			if older {
				back = func(ctx context.Context, id client.ID) error {
					d.slurm.Older(id)
					return d.slurm.Update(ctx, id, client.Field{Name: "AdminComment", Value: "oxgang:hold"}) // as it was then
				}
			}
			if err := back(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			time.Sleep(backoff - 5*time.Second)
			if runs := d.slurm.Job(id).State == client.Running; runs == older {
				t.Errorf("from before its start %t: it runs %t, want not", older, runs)
			}
			d.wants(t, map[string]int{"a": 8})
		})
	}
}

// A started Slurm says when it was.
type started struct {
	*slurmtest.Slurm
	at string
}

func (s *started) Booted(context.Context) (string, error) { return s.at, nil }

// After slurmctld was started again, no job is started for a while.
func TestSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &started{slurmtest.New(slurmtest.Node("n1", "a100", 4)), "one"}
		o := options(s.Slurm)
		o.Slurm = s
		w, err := openBackend(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		release := []step{{Job: 1, Verb: update}, {Job: 1, Verb: Release}, {Job: 2, Verb: notice}}
		left := func() int {
			steps, err := w.unsettled(t.Context(), slices.Clone(release))
			if err != nil {
				t.Fatal(err)
			}
			return len(steps)
		}
		if n := left(); n != 3 {
			t.Errorf("%d steps, want 3", n)
		}
		s.at = "two"
		if n := left(); n != 1 {
			t.Errorf("%d steps after slurmctld was started again, want the notice alone", n)
		}
		if time.Sleep(backoff); left() != 3 {
			t.Error("a job is still not started after a while")
		}
	})
}
