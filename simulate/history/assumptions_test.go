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
		"every job runs on as many GPUs as it had, no more and no fewer (--jobs-elastic)",
		"a job that is preempted goes on where it was after a start of 30s (--jobs-restart); --jobs-checkpoints says what share can",
	}
	if got := Assumptions(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	start := 2 * time.Minute
	c.Jobs.Elastic, c.Jobs.ScalingLoss, c.Jobs.Checkpoints, c.Sim.Restart = 0.2, 0.1, 0.75, &start
	want = []string{
		"20 % of jobs may run on up to twice the GPUs that they had, of which each beyond those loses 10 % of one (--jobs-scaling-loss); the others on as many as they had",
		"of 75 % of jobs, one that is preempted goes on where it was after a start of 2m0s (--jobs-restart); others begin anew",
	}
	if got := Assumptions(c); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
