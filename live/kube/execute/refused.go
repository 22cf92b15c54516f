package execute

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// asking finds out whether pods of a job are refused. Nothing but an event of the Job says that,
// and why: of a ResourceQuota, say. A job whose controller is merely slow has none, and goes on.
func (w *Planner) asking(e *jobstate.Job) *Step {
	namespace, uid, generation, whole := e.Parsed.Namespace, e.Parsed.UID, e.Held.Generation, e.CompleteAt
	return &Step{e, "ask why pods are missing", func(ctx context.Context) error {
		var all corev1.EventList
		err := w.Direct.List(ctx, &all, client.InNamespace(namespace), client.MatchingFields{"involvedObject.uid": uid})
		w.Mu.Lock()
		defer w.Mu.Unlock()
		e.AskedAt = time.Now()
		if err != nil { // nothing is known, then
			w.Options.Log.Warn("the events of a job cannot be read", "job", namespace+"/"+e.Parsed.Name, "err", err)
			return nil
		}
		if why := jobstate.Refusal(all.Items, whole); why != "" && e.Held.Generation == generation {
			w.Refused(e, why)
		}
		return nil
	}}
}
