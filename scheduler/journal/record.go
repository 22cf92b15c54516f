package journal

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Record is one line of a journal after its header: an event or a round. Journals do not
// contain background work or its results.
type Record struct {
	Line  int             // in the journal, from 1
	At    time.Duration   // since Header.Start
	Event scheduler.Event // nil if Round is not
	Round *Round          // nil if Event is not
}

// A Round is what was decided at one time.
type Round struct {
	Number  int
	Changed []Change // in the order of the snapshot
	Left    []job.ID // jobs that were in the last round and are not in this one
	Prices  []policy.TypePrice
	// Capacity is how many nodes of each group are wanted: policy.Plan.Capacity. Journals of
	// format 1 do not have it. It must not be modified, because rounds share it.
	Capacity map[cluster.Group]int
	Refused  string // why the policy's own plan was refused, if it was
	Stats    policy.Stats
	Actions  []scheduler.Action
}

// A Change is a decision on a job that differs from the last one in anything. It is
// complete, although the journal has only what changed.
type Change struct {
	Job job.ID
	policy.Decision
}

// Job returns the decision on a job, and whether the round changed it.
func (r *Round) Job(id job.ID) (policy.Decision, bool) {
	for i := range r.Changed {
		if r.Changed[i].Job == id {
			return r.Changed[i].Decision, true
		}
	}
	return policy.Decision{}, false
}
