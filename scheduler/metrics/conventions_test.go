package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// GPU-hours have profiling and the rest of the round after an end in them; utilisation is time
// held, used or not, and leaves profiling out. It is what report.Conventions says.
func TestConventions_of_GPU_hours_and_utilisation(t *testing.T) {
	s := begin(t, DefaultOptions(), node("n", "t4", 4))
	s.submit(0, "a")
	s.round(0)
	s.Event(at(40), scheduler.Reported{Report: job.Report{
		Job: "a", Profile: true, Interval: 30 * time.Second, Configuration: run("a", "t4", 1, "n").Allocation.Configuration,
	}})
	s.round(60, run("a", "t4", 4, "n"))
	s.exit(90, "a", scheduler.Done) // without having trained: 30 s of starting
	s.round(120)
	got := s.Result().Summary
	for name, c := range map[string]struct{ got, want float64 }{
		"GPU-hours":         {got.AllocatedHours * 3600, 4*60 + 30},
		"GPU-hours per job": {got.GPUHoursPerJob * 3600, 4*60 + 30},
		"profiling":         {got.ProfilingHours * 3600, 30},
		"starting":          {got.RestartHours * 3600, 4 * 30},
		"idle in round":     {got.IdleHours * 3600, 4 * 30},
		"utilisation":       {got.Utilisation, 4 * 60 / (4 * 120.0)},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
}
