package whatif

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
)

// Ends returns in how long jobs are to end by predictions that were made some time ago, of which that is known.
func Ends(all map[job.ID]ETA, ago time.Duration) map[job.ID]time.Duration {
	ends := make(map[job.ID]time.Duration, len(all))
	for id, eta := range all {
		if eta.End.Why == Known {
			ends[id] = max(0, eta.End.Likely-ago)
		}
	}
	return ends
}

// Until makes a change for a job say in how long the last of the jobs that it names is to end by these predictions,
// which were made some time ago: an explanation has one number for one thing. It says nothing of a time if one of them is
// not known. If the job is to start at another time, the change says that, too.
func Until(c *counterfactual.Change, of job.ID, all map[job.ID]ETA, ago time.Duration) {
	if c == nil || len(c.Jobs) == 0 {
		return
	}
	c.In, c.Start = 0, 0
	for _, id := range c.Jobs {
		eta, ok := all[id]
		if !ok || eta.End.Why != Known {
			c.In = -1
			return
		}
		c.In = max(c.In, eta.End.Likely-ago)
	}
	if eta, ok := all[of]; ok && eta.Start.Why == Known && (c.In < eta.Start.Early-ago || c.In > eta.Start.Late-ago) {
		c.Start = max(0, eta.Start.Likely-ago)
	}
}
