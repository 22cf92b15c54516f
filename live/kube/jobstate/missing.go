package jobstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/job"
)

// Unmade is how long pods of a Job may be missing until its events are asked why: its controller
// makes all of them at once. They are asked again each time that twice as long has passed.
const Unmade = 10 * time.Second

// longestWhy is how many bytes are kept of what an event says: with what we say it is to fit into
// an event of ours.
const longestWhy = 700

// Lacks reports whether it is to be asked why pods of a job that was started, or has grown, are
// not made. Only Jobs say so of themselves; of the other kinds a Job beneath them does.
func (e *Job) Lacks(now time.Time) bool {
	if e.Parsed.Kind != "Job" || !e.Running() {
		return false
	}
	return e.Made() < e.Workers() && now.Sub(e.CompleteAt) >= max(Unmade, 2*e.AskedAt.Sub(e.CompleteAt))
}

// Made returns how many workers need no pod made: those that have one of the planned generation, or
// had, and those that have succeeded in another.
func (e *Job) Made() (n int) {
	for _, p := range e.Pods {
		if e.Present(p) || p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// A Limit is what a job can be given, as its pods are refused beyond that.
type Limit struct {
	GPUs  int
	Why   string
	Until time.Time // it is tried again
}

// Limited returns a job as one that gets no more GPUs than its limit.
func (e *Job) Limited(spec *job.Spec) *job.Spec {
	if !time.Now().Before(e.Limit.Until) {
		return spec
	}
	r := *spec
	r.GPUs, r.MaxGPUs = min(r.GPUs, e.Limit.GPUs), min(r.MaxGPUs, e.Limit.GPUs)
	return &r
}

// Refusal returns what the events of a Job say of pods that could not be made since a time; empty:
// nothing.
func Refusal(all []corev1.Event, since time.Time) string {
	why, last := "", since.Truncate(time.Second) // events have whole seconds
	for i := range all {
		if ev := &all[i]; ev.Reason == "FailedCreate" && !ev.LastTimestamp.Time.Before(last) {
			why, last = strings.ToValidUTF8(ev.Message[:min(len(ev.Message), longestWhy)], ""), ev.LastTimestamp.Time
		}
	}
	return why
}
