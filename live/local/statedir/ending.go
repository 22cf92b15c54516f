package statedir

import (
	"slices"
	"strings"

	"github.com/oxgang/oxgang/live/supervisor"
)

// Over reports whether no process of the generation is left.
func (o *Observation) Over() bool {
	return o.State.Phase == supervisor.Ended || o.State.Phase == supervisor.Gone
}

// Succeeded reports whether the generation has ended and all its workers say that all went
// well.
func (o *Observation) Succeeded() bool {
	exits := o.State.Workers
	return o.State.Phase == supervisor.Ended && len(exits) > 0 && !slices.ContainsFunc(exits, func(x supervisor.Exit) bool { return !x.OK() })
}

// StoppedOnNotice reports whether a worker stopped because it was told to, and the others
// did too or had succeeded before.
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

// Detail says how the generation ended, for people.
func (o *Observation) Detail() string {
	switch {
	case o.State.Phase == supervisor.Gone:
		return "its keeper is gone, and its workers with it (killed, or the machine was started again)"
	case o.State.Detail != "":
		return o.State.Detail
	}
	return "its workers stopped"
}

// LastLines returns the last lines of the output as the end of a sentence, for people; empty
// if there are none.
func (o *Observation) LastLines() string {
	if len(o.State.Tail) == 0 {
		return ""
	}
	return "; its last lines:\n" + strings.Join(o.State.Tail, "\n")
}
