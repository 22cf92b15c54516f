package gavel_test

import (
	"testing"

	"github.com/oxgang/oxgang/policy/rivals/gavel"
)

// A lossy model is one whose samples are worth a part of those at the initial batch size.
type lossy struct {
	speed
	worth float64
}

func (m lossy) Efficiency(float64) float64 { return m.worth }

// Gavel §4.2 adds up throughputs, steps per second: what a step is worth to its job does not
// count, as it does for the time that is left.
func TestSum_counts_steps_whatever_they_are_worth(t *testing.T) {
	w := newTestCluster(t, 1, 1)
	endless(w.submit("slow", 1, 3))
	endless(w.submit("fast", 1, 1)).Perf = lossy{speed{"a": 20, "b": 4}, 0.1}
	plan := w.play(fresh(t, func(o *gavel.Options) { o.Objective = gavel.Sum }))
	if plan.Jobs[0].Allocation.GPUs != 0 || plan.Jobs[1].Allocation.GPUs != 1 {
		t.Errorf("granted %v and %v, want the GPU for the job of 20 steps a second, not of 15", plan.Jobs[0].Allocation, plan.Jobs[1].Allocation)
	}
	near(t, "objective", plan.Stats.Objective, 20, 1e-6)
}
