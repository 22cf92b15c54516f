package whatif

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
)

// Ends returns the time from now until the end of each job whose end is predicted. age is how long ago the predictions
// were made.
func Ends(predictions map[job.ID]ETA, age time.Duration) map[job.ID]time.Duration {
	ends := make(map[job.ID]time.Duration, len(predictions))
	for id, eta := range predictions {
		if eta.End.Why == Known {
			ends[id] = max(0, eta.End.Likely-age)
		}
	}
	return ends
}

// Until sets c.In to the time from now until all jobs in c.Jobs have ended. It is negative if an end is unknown or
// unreliable. Until sets c.Earlier if the job waiting is predicted to start before. age is how long ago the predictions
// were made.
func Until(c *counterfactual.Change, waiting job.ID, predictions map[job.ID]ETA, age time.Duration) {
	if c == nil || len(c.Jobs) == 0 {
		return
	}
	c.In = 0
	for _, id := range c.Jobs {
		eta, ok := predictions[id]
		if !ok || eta.End.Why != Known || eta.Unreliable() != "" {
			c.In = -1
			return
		}
		c.In = max(c.In, eta.End.Likely-age)
	}
	start, ok := predictions[waiting]
	c.Earlier = ok && start.Start.Why == Known && !start.Start.Open && start.Start.Unreliable() == "" && start.Start.Late-age < c.In
}
