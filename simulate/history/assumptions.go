package history

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/simulate/config"
)

// Assumptions lists what simulations assume because the history does not contain it: how jobs scale, and what they
// lose when preempted.
func Assumptions(c *config.Config) []string {
	return []string{scaling(&c.Jobs), preempted(&c.Jobs, startCost(c))}
}

func scaling(j *config.Jobs) string {
	if j.Elastic <= 0 {
		return "every job runs on as many GPUs as it had, no more and no fewer (--jobs-elastic)"
	}
	loss := "nothing"
	if j.ScalingLoss > 0 {
		loss = fmt.Sprintf("%.0f %% of one", 100*j.ScalingLoss)
	}
	return fmt.Sprintf("%.0f %% of jobs may run on up to twice the GPUs that they had, of which each beyond those loses %s (--jobs-scaling-loss); the others on as many as they had", 100*j.Elastic, loss)
}

func preempted(j *config.Jobs, start time.Duration) string {
	goesOn := fmt.Sprintf("goes on where it was after a start of %v (--jobs-restart)", start)
	if j.Checkpoints == config.AsTraced || j.Checkpoints >= 1 {
		return "a job that is preempted " + goesOn + "; --jobs-checkpoints says what share can"
	}
	return fmt.Sprintf("of %.0f %% of jobs, one that is preempted %s; others begin anew", 100*j.Checkpoints, goesOn)
}
