package execute

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/pods"
	"github.com/oxgang/oxgang/model/job"
)

// refusals is what events say of pods that could not be created, by namespace. The API server has no index of events: it reads all of
// a namespace from etcd, whatever is asked of them. So those of all jobs are read together, and what was read stands for
// nine times as long as that took. The zero value is empty.
type refusals struct {
	mu sync.Mutex
	of map[string]*snapshot
}

// A snapshot is what was read of one namespace.
type snapshot struct {
	turn chan struct{} // has an item while somebody reads, which takes long
	at   time.Time     // when it began; zero: nothing was read
	took time.Duration
	err  error
	last map[string]jobstate.Refusal // by uid of the Job
}

// in returns the snapshot of a namespace.
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

// read returns the last refusal of each job that the planner has, by its uid, and when that was read. Who asks while it is being read waits for it.
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
		err := pods.ListEvents(ctx, w.Direct, func(ev *corev1.Event) {
			if uid := string(ev.InvolvedObject.UID); w.has(uid) {
				last[uid] = last[uid].Later(ev)
			}
		}, client.InNamespace(namespace), client.MatchingFields{"reason": jobstate.FailedCreate})
		one.at, one.took, one.err, one.last = began, time.Since(began), err, last
	}
	return one.last, one.at, one.err
}

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
