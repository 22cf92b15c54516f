package execute

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
)

// refusals caches events about pods that could not be created. The API server does not index events, so one read serves
// all jobs, for nine times its duration.
type refusals struct {
	mu sync.Mutex
	of map[string]*snapshot
}

type snapshot struct {
	turn chan struct{} // full during a read
	at   time.Time     // zero: none yet
	took time.Duration
	err  error
	last map[string]jobstate.Refusal // by uid of the Job
}

func (r *refusals) in(namespace string) *snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = make(map[string]*snapshot)
	}
	if r.of[namespace] == nil {
		r.of[namespace] = &snapshot{turn: make(chan struct{}, 1)}
	}
	return r.of[namespace]
}

// Concurrent callers share a read.
func (r *refusals) read(ctx context.Context, w *Planner, namespace string) (map[string]jobstate.Refusal, time.Time, error) {
	one := r.in(namespace)
	select {
	case one.turn <- struct{}{}:
		defer func() { <-one.turn }()
	case <-ctx.Done():
		return nil, time.Now(), ctx.Err()
	}
	if one.at.IsZero() || stale(one.at, one.took) {
		began, last := time.Now(), make(map[string]jobstate.Refusal)
		err := inventory.ListEvents(ctx, w.Direct, func(ev *corev1.Event) {
			if uid := string(ev.InvolvedObject.UID); w.known(uid) {
				last[uid] = last[uid].Later(ev)
			}
		}, client.InNamespace(namespace), client.MatchingFields{"reason": jobstate.FailedCreate})
		one.at, one.took, one.err, one.last = began, time.Since(began), err, last
	}
	return one.last, one.at, one.err
}

func (w *Planner) asking(e *jobstate.Job) *Step {
	namespace, uid, generation, whole := e.Parsed.Namespace, e.Parsed.UID, e.Held.Generation, e.CompleteAt
	return &Step{e, "find out why pods are missing", func(ctx context.Context) error {
		last, at, err := w.refusals.read(ctx, w, namespace)
		w.Mu.Lock()
		defer w.Mu.Unlock()
		e.AskedAt = at
		if err != nil {
			w.Options.Log.Warn("cannot read the events of a job", "job", namespace+"/"+e.Parsed.Name, "err", err)
			return nil
		}
		if r := last[uid]; r.Since(whole) && e.Held.Generation == generation {
			w.Refused(e, r.Why)
		}
		return nil
	}}
}

func (w *Planner) known(uid string) bool {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.table.ByID[job.ID(uid)] != nil
}

func stale(at time.Time, took time.Duration) bool { return time.Since(at) > 9*took }
