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

// Until sets c.In to the time until all jobs in c.Jobs have ended, from predictions that were made age ago. It is negative
// if an end is unknown or unreliable, or if the start of the waiting job is predicted: then that is the time to
// state. c.Earlier is set if the waiting job is predicted to start before.
func Until(c *counterfactual.Change, waiting job.ID, predictions map[job.ID]ETA, age time.Duration) {
	if c == nil || len(c.Jobs) == 0 {
		return
	}
	c.In = lastEnd(c.Jobs, predictions, age)
	if start, ok := predictions[waiting]; ok && start.Start.Why == Known && start.Start.Unreliable() == "" {
		c.Earlier = !start.Start.Open && start.Start.Late-age < c.In
		c.In = -1
	}
}

// lastEnd returns the time until all of some jobs have ended; negative if an end is unknown or unreliable.
func lastEnd(jobs []job.ID, predictions map[job.ID]ETA, age time.Duration) (last time.Duration) {
	for _, id := range jobs {
		eta, ok := predictions[id]
		if !ok || eta.End.Why != Known || eta.Unreliable() != "" {
			return -1
		}
		last = max(last, eta.End.Likely-age)
	}
	return last
}
