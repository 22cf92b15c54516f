package history

import (
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/simulate/config"
)

// TestAssumptions: what is assumed of recorded jobs is said as it is set.
func TestAssumptions(t *testing.T) {
	c := config.Default()
	want := []string{
		"every job runs on exactly the GPUs that it had (--jobs-elastic)",
		"preempted jobs continue after a start of 30s (--jobs-restart); set the share of jobs with checkpoints with --jobs-checkpoints",
	}
	if got := Assumptions(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	start := 2 * time.Minute
	c.Jobs.Elastic, c.Jobs.ScalingLoss, c.Jobs.Checkpoints, c.Sim.Restart = 0.2, 0.1, 0.75, &start
	want = []string{
		"20 % of jobs may use up to twice their GPUs, with a loss of 10 % per additional GPU (--jobs-scaling-loss); the others keep their number of GPUs",
		"75 % of preempted jobs continue after a start of 2m0s (--jobs-restart); the others start from the beginning",
	}
	if got := Assumptions(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
