package jobstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/model/job"
)

// Unmade is how long pods of a Job may be missing until the Job's events are read to find the cause. The delay doubles
// with each read.
const Unmade = 10 * time.Second

const longestWhy = 700

// Lacks reports whether the events of a started Job should be read now, because some of its pods do not exist. The
// first read is due after Unmade; each further delay is twice as long.
func (e *Job) Lacks(now time.Time) bool {
	if e.Parsed.Kind != "Job" || !e.Running() {
		return false
	}
	return e.Made() < e.Workers() && now.Sub(e.CompleteAt) >= max(Unmade, 2*e.AskedAt.Sub(e.CompleteAt))
}

// Overdue reports whether a write or started pods have been missing from the watches for longer than prompt.
func (e *Job) Overdue(now time.Time, prompt time.Duration) bool {
	since := e.CompleteAt
	if e.Stale() {
		since = e.StaleSince
	}
	return now.Sub(since) > prompt && e.Awaits()
}

// Awaits reports whether the watches do not show yet a write to the job or all its started pods.
func (e *Job) Awaits() bool {
	return e.Stale() || e.Started() && e.Running() && e.Made() < e.Workers()
}

// Made counts the job's workers whose pods exist, and those that have succeeded. It ignores other pods of earlier
// starts.
func (e *Job) Made() (n int) {
	for _, p := range e.Pods {
		if e.Present(p) || p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// A Limit is a temporary limit on a job's GPUs, set because no more pods could be created.
type Limit struct {
	GPUs  int
	Why   string
	Until time.Time
}

// Limited returns spec with the job's Limit applied to its GPUs.
func (e *Job) Limited(spec *job.Spec) *job.Spec {
	if !time.Now().Before(e.Limit.Until) {
		return spec
	}
	r := *spec
	r.GPUs, r.MaxGPUs = min(r.GPUs, e.Limit.GPUs), min(r.MaxGPUs, e.Limit.GPUs)
	return &r
}

// FailedCreate is the reason in the event by which the Job controller reports that it could not create a pod.
const FailedCreate = "FailedCreate"

// A Refusal states why pods of a Job could not be created.
type Refusal struct {
	Why  string
	Last time.Time // of the last event, in whole seconds
}

// Later returns the later of r and the refusal in event ev. If both are within the same second, it returns the refusal
// in ev.
func (r Refusal) Later(ev *corev1.Event) Refusal {
	if ev.Reason != FailedCreate || ev.LastTimestamp.Time.Before(r.Last) {
		return r
	}
	return Refusal{strings.ToValidUTF8(ev.Message[:min(len(ev.Message), longestWhy)], ""), ev.LastTimestamp.Time}
}

// Since reports whether pods were refused since a time.
func (r Refusal) Since(t time.Time) bool {
	return r.Why != "" && !r.Last.Before(t.Truncate(time.Second))
}
