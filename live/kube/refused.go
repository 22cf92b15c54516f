package kube

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/job"
)

// unmade is how long pods of a Job may be missing until its events are asked why: its controller
// makes all of them at once. They are asked again each time that twice as long has passed.
const unmade = 10 * time.Second

// longestWhy is how many bytes are kept of what an event says: with what we say it is to fit into
// an event of ours.
const longestWhy = 700

// lacks reports whether it is to be asked why pods of a job that was started, or has grown, are
// not made. Only Jobs say so of themselves; of the other kinds a Job beneath them does.
func (e *entry) lacks(now time.Time) bool {
	if e.job.Kind != "Job" || !e.running() {
		return false
	}
	return e.made() < e.workers() && now.Sub(e.whole) >= max(unmade, 2*e.asked.Sub(e.whole))
}

// made returns how many workers need no pod made: those that have one of the planned generation, or
// had, and those that have succeeded in another.
func (e *entry) made() (n int) {
	for _, p := range e.pods {
		if e.present(p) || p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// asking finds out whether pods of a job are refused. Nothing but an event of the Job says that,
// and why: of a ResourceQuota, say. A job whose controller is merely slow has none, and goes on.
func (w *World) asking(e *entry) *step {
	namespace, uid, generation, whole := e.job.Namespace, e.job.UID, e.held.generation, e.whole
	return &step{e, "ask why pods are missing", func(ctx context.Context) error {
		var all corev1.EventList
		err := w.direct.List(ctx, &all, client.InNamespace(namespace), client.MatchingFields{"involvedObject.uid": uid})
		w.mu.Lock()
		defer w.mu.Unlock()
		e.asked = time.Now()
		if err != nil { // nothing is known, then
			w.o.Log.Warn("the events of a job cannot be read", "job", namespace+"/"+e.job.Name, "err", err)
			return nil
		}
		if why := refusal(all.Items, whole); why != "" && e.held.generation == generation {
			w.refused(e, why)
		}
		return nil
	}}
}

// A limit is what a job can be given, as its pods are refused beyond that.
type limit struct {
	gpus  int
	why   string
	until time.Time // it is tried again
}

// refused takes in that pods of a job cannot be made. If it does not train yet it is given up. One
// that can do with those there are is planned with no more, for a time.
func (w *World) refused(e *entry, why string) {
	gpus, elastic := e.made()*e.job.PerWorker.GPUs, e.spec.Adaptivity&job.GPUCount != 0 && !e.spec.NonPreemptive
	suffices := elastic && gpus >= max(1, e.spec.MinGPUs)
	if suffices {
		e.limit = limit{gpus, why, time.Now().Add(longBackoff)}
		w.describe(e)
	}
	if e.told == e.held.generation {
		return
	}
	if !suffices {
		e.failures = max(e.failures, tries-1) // no glitch: others have its turn at once
	}
	w.lose(e, "its pods cannot be made: "+why)
}

// limited returns a job as one that gets no more GPUs than its limit.
func (e *entry) limited(spec *job.Spec) *job.Spec {
	if !time.Now().Before(e.limit.until) {
		return spec
	}
	r := *spec
	r.GPUs, r.MaxGPUs = min(r.GPUs, e.limit.gpus), min(r.MaxGPUs, e.limit.gpus)
	return &r
}

// refusal returns what the events of a Job say of pods that could not be made since a time; empty:
// nothing.
func refusal(all []corev1.Event, since time.Time) string {
	why, last := "", since.Truncate(time.Second) // events have whole seconds
	for i := range all {
		if ev := &all[i]; ev.Reason == "FailedCreate" && !ev.LastTimestamp.Time.Before(last) {
			why, last = strings.ToValidUTF8(ev.Message[:min(len(ev.Message), longestWhy)], ""), ev.LastTimestamp.Time
		}
	}
	return why
}
