package history

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/simulate/config"
)

// Assumptions lists what simulations with c must assume because a history lacks it: how jobs scale, and what they lose
// when preempted.
func Assumptions(c *config.Config) []string {
	return []string{scaling(&c.Jobs), preempted(&c.Jobs, startCost(c))}
}

func scaling(j *config.Jobs) string {
	if j.Elastic <= 0 {
		return "every job runs on exactly the GPUs that it had (--jobs-elastic)"
	}
	loss := "no loss"
	if j.ScalingLoss > 0 {
		loss = fmt.Sprintf("a loss of %.0f %%", 100*j.ScalingLoss)
	}
	return fmt.Sprintf("%.0f %% of jobs may use up to twice their GPUs, with %s per additional GPU (--jobs-scaling-loss); the others keep their number of GPUs", 100*j.Elastic, loss)
}

func preempted(j *config.Jobs, start time.Duration) string {
	after := fmt.Sprintf("continue after a start of %v (--jobs-restart)", start)
	if j.Checkpoints == config.AsTraced || j.Checkpoints >= 1 {
		return "preempted jobs " + after + "; set the share of jobs with checkpoints with --jobs-checkpoints"
	}
	return fmt.Sprintf("%.0f %% of preempted jobs %s; the others start from the beginning", 100*j.Checkpoints, after)
}
