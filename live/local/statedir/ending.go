package statedir

import (
	"slices"
	"strings"

	"github.com/oxgang/oxgang/live/supervisor"
)

// Over reports whether all processes of this start of the job have ended.
func (o *Observation) Over() bool {
	return o.State.Phase == supervisor.Ended || o.State.Phase == supervisor.Gone
}

// Succeeded reports whether all workers of the start succeeded.
func (o *Observation) Succeeded() bool {
	exits := o.State.Workers
	return o.Over() && len(exits) > 0 && !slices.ContainsFunc(exits, func(x supervisor.Exit) bool { return !x.OK() })
}

// StoppedOnNotice reports whether some workers stopped because they were asked to, and all others succeeded.
func (o *Observation) StoppedOnNotice() bool {
	stopped := false
	for _, x := range o.State.Workers {
		stopped = stopped || x.Code == supervisor.TempFail
		if !x.OK() && x.Code != supervisor.TempFail {
			return false
		}
	}
	return stopped
}

// Detail describes in words how the start ended.
func (o *Observation) Detail() string {
	switch {
	case o.State.Phase == supervisor.Gone && len(o.State.Workers) == 0:
		return "its supervisor and workers are gone (killed, or the machine restarted)"
	case o.State.Detail != "":
		return o.State.Detail
	}
	return "its workers stopped"
}

// LastLines returns the last lines of output as a clause for a message, or "" if there are none.
func (o *Observation) LastLines() string {
	if len(o.State.Tail) == 0 {
		return ""
	}
	return "; its last lines:\n" + strings.Join(o.State.Tail, "\n")
}
