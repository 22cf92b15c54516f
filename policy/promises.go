package policy

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// A Promiser is a policy that gives some waiting jobs GPUs by a certain time, whatever other jobs come.
type Promiser interface {
	Policy
	// Promised returns by when waiting jobs get GPUs, as of the last plan, which was for this snapshot. Jobs without a
	// promise are missing.
	Promised(s *Snapshot) map[job.ID]time.Time
}
