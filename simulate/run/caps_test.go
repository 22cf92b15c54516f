package run

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/ledger"
	"github.com/oxgang/oxgang/simulate/config"
)

// A capWatch compares a run under a cap with the ledger: it notes starts of the class after the cap was used up.
type capWatch struct {
	*ledger.Recorder
	class       job.Class
	hours, used float64
	holds       map[job.ID]bool
	late, waits int
}

func (w *capWatch) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	for i, j := range s.Jobs {
		if j.Class != w.class {
			continue
		}
		runs := p.Jobs[i].Allocation.AllGPUs() > 0
		if runs && !w.holds[j.ID] && w.used >= w.hours {
			w.late++
		}
		if p.Jobs[i].Why.Kind == policy.WaitCap {
			w.waits++
		}
		w.holds[j.ID] = runs
	}
	w.Recorder.Round(s, p, acts)
}

// TestCap_of_a_simulation: once the ledger of a run has the GPU-hours of a cap, no job of the class starts, and its
// jobs wait because of the cap. Without a cap, jobs of the class start later than that.
func TestCap_of_a_simulation(t *testing.T) {
	for _, capped := range []bool{true, false} {
		c := config.Default()
		for key, value := range map[string]string{"generate.jobs": "60", "generate.span": "4h", "cluster": "t4:4x4", "horizon": "5h", "scheduler.profile": "false"} {
			if err := c.Set(key, value, "test"); err != nil {
				t.Fatal(err)
			}
		}
		if capped {
			if err := c.Set("set", "cap=class:cifar10=10;user:nobody=1 soft", "test"); err != nil {
				t.Fatal(err)
			}
		}
		in, err := Load(c, Files{})
		if err != nil {
			t.Fatal(err)
		}
		w := &capWatch{class: "cifar10", hours: 10, holds: map[job.ID]bool{}}
		w.Recorder = ledger.NewRecorder(time.Time{}, nil, func(e *ledger.Entry) {
			if e.Job != nil && e.Job.Class == w.class && e.Use != ledger.Profiling {
				w.used += e.Time.Hours()
			}
		})
		if _, err := SimulateWatched(t.Context(), c, in, "oxgang", Watch{Observer: func(*Decider) scheduler.Observer { return w }, Whole: true}); err != nil {
			t.Fatal(err)
		}
		if w.used < w.hours || capped != (w.late == 0) || capped != (w.waits > 0) {
			t.Errorf("capped %v: %.2f GPU-hours used, %d late starts, %d decisions to wait for the cap", capped, w.used, w.late, w.waits)
		}
		t.Logf("capped %v: %.2f GPU-hours, %d late starts, %d waits", capped, w.used, w.late, w.waits)
	}
}
