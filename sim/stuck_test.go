package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/sim"
	"github.com/oxgang/oxgang/workload"
)

// TestWorld_says_when_nothing_moves, also while nodes fail and come back, which
// are events but help nobody.
func TestWorld_says_when_nothing_moves(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	o := sim.DefaultOptions()
	o.Faults = sim.Faults{NodeMTBF: time.Minute, Repair: time.Minute}
	a := workload.Arrival{Duration: time.Hour}
	a.Spec.ID, a.Spec.GPUs, a.Spec.Target = "waits", 4, 3600
	w, err := sim.New(c, workload.Catalog{}, []workload.Arrival{a}, o)
	if err != nil {
		t.Fatal(err)
	}
	deadline := w.Now()
	for range 1_000_000 {
		ev, err := w.Next(context.Background(), deadline)
		if err != nil {
			if !strings.Contains(err.Error(), "stuck: 1 jobs wait") || !strings.Contains(err.Error(), "waits") {
				t.Errorf("got error %v, want that it is stuck, and the job", err)
			}
			return
		}
		if ev == nil {
			deadline = deadline.Add(time.Minute)
		}
	}
	t.Error("the job waits for ever, and nothing says so")
}
