package whatif

import (
	"time"

	"github.com/oxgang/oxgang/explain/counterfactual"
	"github.com/oxgang/oxgang/job"
)

// Until makes a change say in how long the last of the jobs that it names is to end by these predictions,
// which were made some time ago: an explanation has one number for one thing. It says nothing if one of them is
// not known, or may not be needed.
func Until(c *counterfactual.Change, all map[job.ID]ETA, ago time.Duration) {
	if c == nil || len(c.Jobs) == 0 || c.Rough {
		return
	}
	c.In = 0
	for _, id := range c.Jobs {
		eta, ok := all[id]
		if !ok || eta.End.Why != Known {
			c.In = -1
			return
		}
		c.In = max(c.In, eta.End.Likely-ago)
	}
}
