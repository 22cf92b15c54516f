package whatif

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
)

// TestReliable_overdue: the range of a job that never starts, or is cancelled after the end of its range, did not hold.
func TestReliable_overdue(t *testing.T) {
	begin := time.Unix(0, 0)
	upTo := func(late time.Duration) calibration.Range { return calibration.Range{Late: late} }
	a := &audit{Predictor: &Predictor{learn: NewLearner(DefaultOptions(nil).Scheduler.Estimate)}, round: time.Minute, open: map[job.ID][]*audited{}}
	for _, id := range []job.ID{"never", "cancelled", "starts"} {
		x := &audited{phase: calibration.Start, at: begin}
		x.ranges = [len(Levels)]calibration.Range{upTo(time.Hour), upTo(2 * time.Hour), upTo(5 * time.Hour)}
		a.open[id] = append(a.open[id], x)
	}
	a.Event(begin.Add(90*time.Minute), scheduler.Exited{Job: "cancelled", Outcome: scheduler.Cancelled})
	a.test(begin.Add(100*time.Minute), "starts", calibration.Start)
	a.close(begin.Add(3 * time.Hour))
	got := a.result()[calibration.Start]
	if want := [len(Levels)]float64{0, 0.5, 1}; got.Ranges != 2 || got.Held != want {
		t.Errorf("%d ranges, %v held; want 2 and %v", got.Ranges, got.Held, want)
	}
}
