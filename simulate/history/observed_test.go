package history

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// TestObserved: what was recorded is measured as simulations are: waits, completion times, GPU time and
// contention of the jobs that were simulated, of which one still ran.
func TestObserved(t *testing.T) {
	jobs := map[job.ID]*parse.Observed{"a": seen(0, 10, 100), "b": seen(1, 50, 10), "runs": seen(2, 0, 0), "left out": seen(0, 0, 500)}
	var simulated []workload.Arrival
	for _, id := range []job.ID{"a", "b", "runs", "unknown"} {
		a := workload.Arrival{Spec: job.Spec{ID: id, GPUs: 4}}
		if o := jobs[id]; o != nil {
			o.Arrival = a
		}
		simulated = append(simulated, a)
	}
	run, err := ObservedRun(jobs, simulated, eight(t))
	if err != nil {
		t.Fatal(err)
	}
	s := run.Result.Summary
	if run.Name != "observed" || s.Jobs != 3 || s.Done != 2 || s.Active != 1 || s.MeanJCT != 60*(110+60)/2 || s.MeanQueued != 60*(10+50)/2 || s.Rounds != 0 {
		t.Errorf("%+v, want 2 of 3 jobs done, after 85 minutes, 30 of which they waited", s)
	}
	// a holds 4 of 8 GPUs from 0:10 to 1:50, b from 1:50 to 2:00, and the last has just come.
	if want := 110.0 / 120 / 2; math.Abs(s.Utilisation-want) > 1e-3 {
		t.Errorf("utilisation %v, want %v", s.Utilisation, want)
	}
	if want := (110.0 + 60) / 120; math.Abs(s.MeanContention-want) > 1e-9 {
		t.Errorf("contention %v, want %v", s.MeanContention, want)
	}
	if j := run.Result.Jobs[1]; j.ID != "b" || j.FirstStarted != 110*time.Minute.Seconds() || j.Useful != j.Allocated || j.Outcome != metrics.Done {
		t.Errorf("%+v, want a job that trained from minute 110", j)
	}
	if run, err := ObservedRun(nil, simulated, eight(t)); err != nil || run.Result.Summary.Jobs != 0 {
		t.Errorf("no jobs: %+v, %v", run.Result.Summary, err)
	}
}
