package policy

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A Promiser is a policy that promises some waiting jobs that they start by a certain time, even if more jobs are
// submitted later.
type Promiser interface {
	Policy
	// Promised returns the promised start of each waiting job that has one, as of the last plan. Call it
	// with the snapshot of that plan.
	Promised(s *Snapshot) map[job.ID]time.Time
}
