package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
)

// TestWorld_says_when_nothing_moves, also while nodes fail and come back, which
// are events but help nobody.
func TestWorld_says_when_nothing_moves(t *testing.T) {
	o := sim.DefaultOptions()
	o.Faults = sim.Faults{NodeMTBF: time.Minute, Repair: time.Minute}
	w, err := sim.New(fours(t, "n"), workload.Catalog{}, []workload.Arrival{lasting(time.Hour)}, o)
	if err != nil {
		t.Fatal(err)
	}
	deadline := w.Now()
	for range 1_000_000 {
		ev, err := w.Next(context.Background(), deadline)
		if err != nil {
			if !strings.Contains(err.Error(), "stuck: no job runs, and 1 job waited") || !strings.HasSuffix(err.Error(), ": j") {
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
