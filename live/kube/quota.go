package kube

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// awaitQuota gives up a start that Kueue has not admitted for as long as a start may take: the GPUs that
// are kept for it are of use to others. It names a queue of Kueue that is not there, perhaps.
func (w *jobEvents) awaitQuota(e *jobstate.Job, now time.Time) {
	if e.Queued.IsZero() {
		e.Queued = now
	}
	if now.Sub(e.Queued) <= w.o.Start {
		return
	}
	e.Failures = max(e.Failures, jobstate.Tries-1) // others get the GPUs at once
	w.lose(e, fmt.Sprintf("Kueue has not admitted it within %v", w.o.Start))
}
