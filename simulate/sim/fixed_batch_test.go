package sim_test

import (
	"context"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// TestFixed_batches_below_what_was_measured train at the least that was: bert
// with its initial batch of 12 on 8 GPUs is less than 4 samples a GPU.
func TestFixed_batches_below_what_was_measured(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	catalog := profiles.Default()
	a := workload.Arrival{Application: "bert"}
	a.Spec.ID, a.Spec.GPUs, a.Spec.Adaptivity = "small", 8, job.Rigid
	if err := catalog.Complete(&a); err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(c, catalog, []workload.Arrival{a}, sim.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	so := scheduler.DefaultOptions()
	so.Profile = false
	s, err := scheduler.New(queue.New(queue.FIFO()), submesh.New(submesh.DefaultOptions()), c, so)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := metrics.New(metrics.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), w, rec); err != nil {
		t.Fatal(err)
	}
	if got := rec.Result().Jobs[0].Outcome; got != metrics.Done {
		t.Errorf("got %s, want done", got)
	}
}
