package whatif

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
)

// Ends returns the time from now until each predicted end of a job. age is the time since the predictions were made.
func Ends(predictions map[job.ID]ETA, age time.Duration) map[job.ID]time.Duration {
	ends := make(map[job.ID]time.Duration, len(predictions))
	for id, eta := range predictions {
		if eta.End.Why == Known {
			ends[id] = max(0, eta.End.Likely-age)
		}
	}
	return ends
}

// Until sets c.In, the time until all jobs in c.Jobs have ended, from predictions made age ago. c.In is negative if an
// end is unknown or unreliable, or if the start of the waiting job is predicted, which is then the time to state.
// c.Earlier is set if that start comes first.
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
