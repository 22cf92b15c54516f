package journal

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Record is one line of a journal after its header: an event or a round.
type Record struct {
	Line  int             // number of the line, from 1
	At    time.Duration   // time since Header.Start
	Event scheduler.Event // nil if the line is a Round
	Round *Round          // nil if the line is an Event
}

// A Round has the decisions of a round that differ from the decisions of the round before.
type Round struct {
	Number  int
	Changed []Change // in the order of the snapshot
	Left    []job.ID // jobs of the last round that are missing in this one
	Prices  []policy.TypePrice
	// Capacity is policy.Plan.Capacity; nil in format 1. Rounds share it: do not modify it.
	Capacity map[cluster.Group]int
	Refused  string // why the policy's plan was refused, if it was
	Stats    policy.Stats
	Actions  []scheduler.Action
}

// A Change is the new decision about one job.
type Change struct {
	Job job.ID
	policy.Decision
}
