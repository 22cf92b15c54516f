package rivals_test

import (
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/registry"
	_ "github.com/oxgang/oxgang/policy/rivals" // all policies
)

// Policies that take turns and do not weigh what a preempted job loses take none with jobs
// without checkpoints: they would begin anew after each, and never end.
func TestJobs_without_checkpoints_run_until_they_are_done(t *testing.T) {
	const named = "las drf tetris themis afs gavel mst ftf ossp gandivafair gandiva"
	for name := range strings.FieldsSeq(named) {
		p, err := registry.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := policytest.NewToy(t, 4)
		for _, id := range []job.ID{"a", "b", "c"} {
			w.Submit(id, 4, 100*time.Minute).NoCheckpoint = true
		}
		w.Play(p)
		first := w.GPUs()
		for round := range 80 {
			if round == 10 {
				w.Submit("late", 2, 5*time.Minute).NoCheckpoint = true
			}
			if w.Play(p); !strings.HasPrefix(w.GPUs(), first) {
				t.Errorf("%s: %s after %s, want no change before one ends", name, w.GPUs(), first)
				break
			}
		}
	}
}
