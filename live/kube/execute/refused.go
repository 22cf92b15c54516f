package execute

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
)

// asking finds out whether pods of a job are refused. Nothing but an event of the Job says that,
// and why: of a ResourceQuota, say. A job whose controller is merely slow has none, and goes on.
func (w *Planner) asking(e *jobstate.Job) *Step {
	namespace, uid, generation, whole := e.Parsed.Namespace, e.Parsed.UID, e.Held.Generation, e.CompleteAt
	return &Step{e, "ask why pods are missing", func(ctx context.Context) error {
		last, at, err := w.refusals.read(ctx, w, namespace)
		w.Mu.Lock()
		defer w.Mu.Unlock()
		e.AskedAt = at
		if err != nil { // nothing is known, then
			w.Options.Log.Warn("the events of a job cannot be read", "job", namespace+"/"+e.Parsed.Name, "err", err)
			return nil
		}
		if r := last[uid]; r.Since(whole) && e.Held.Generation == generation {
			w.Refused(e, r.Why)
		}
		return nil
	}}
}

// has reports whether a job was taken in.
func (w *Planner) has(uid string) bool {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.table.ByID[job.ID(uid)] != nil
}

// stale reports whether something that took so long to read, at a time, may be read again: it is read a tenth of the time at most.
func stale(at time.Time, took time.Duration) bool { return time.Since(at) > 9*took }
