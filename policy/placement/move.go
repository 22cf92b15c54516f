package rack

import (
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// starts reports whether a job has to start on its nodes anyway: it comes from others, or from none.
func starts(j *policy.Job, d *policy.Decision) bool { return !d.Placement.SameGPUs(j.Placement) }

// movable reports whether a job may be on other nodes than those that it was placed on.
func movable(j *policy.Job, d *policy.Decision, given bool) bool {
	switch {
	case given || j.NonPreemptive && j.Holding():
		return false
	case starts(j, d):
		return !j.Resizes || d.Placement.Common(j.Placement) == 0
	}
	return j.Phase == job.Running && !j.NoCheckpoint && d.Why.Kind != policy.Reserved
}
