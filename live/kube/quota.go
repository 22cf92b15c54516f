package kube

import (
	"fmt"
	"time"

	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// awaitQuota gives up a start that Kueue has not admitted for as long as a start may take: the GPUs that
// are kept for it are of use to others. It names a queue of Kueue that is not there, perhaps.
func (w *jobEvents) awaitQuota(e *jobstate.Job, now time.Time) {
	if now.Sub(e.Queued) <= w.o.Start {
		return
	}
	e.Failures = max(e.Failures, jobstate.Tries-1) // others get the GPUs at once
	w.lose(e, fmt.Sprintf("Kueue has not admitted it within %v", w.o.Start))
}

// awaitSlice has a job that has grown do without the workers for which Kueue has had no quota for as long as a start may take:
// the GPUs that are kept for them are of use to others. More is tried again later.
func (w *jobEvents) awaitSlice(e *jobstate.Job, now time.Time) {
	if waiting := e.AwaitQuota(); waiting > 0 && now.Sub(e.Queued) > w.o.Start && e.TrainsIn == e.Held.Generation {
		e.Limit = jobstate.Limit{GPUs: (e.Made() - waiting) * e.Parsed.PerWorker.GPUs, Why: "Kueue has no quota for them", Until: now.Add(jobstate.LongBackoff)}
		w.describe(e)
	}
}
