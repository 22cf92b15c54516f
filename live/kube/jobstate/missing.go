package jobstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/model/job"
)

// Unmade is how long pods of a Job may be missing before its events are read to find the cause; the delay doubles
// each time.
const Unmade = 10 * time.Second

const longestWhy = 700

// Lacks reports whether to read the events of a started Job now, because some of its pods do not exist. The first
// read is due after Unmade; each further wait is twice as long.
func (e *Job) Lacks(now time.Time) bool {
	if e.Parsed.Kind != "Job" || !e.Running() {
		return false
	}
	return e.Made() < e.Workers() && now.Sub(e.CompleteAt) >= max(Unmade, 2*e.AskedAt.Sub(e.CompleteAt))
}

// Overdue reports whether the watches should have shown a write or started pods by now, after prompt.
func (e *Job) Overdue(now time.Time, prompt time.Duration) bool {
	since := e.CompleteAt
	if e.Stale() {
		since = e.StaleSince
	}
	return now.Sub(since) > prompt && e.Awaits()
}

// Awaits reports whether the watches have yet to show a write or started pods.
func (e *Job) Awaits() bool {
	return e.Stale() || e.Started() && e.Running() && e.Made() < e.Workers()
}

// Made returns the number of the job's workers whose pod exists or that have already succeeded. It ignores pods of
// earlier starts.
func (e *Job) Made() (n int) {
	for _, p := range e.Pods {
		if e.Present(p) || p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// A Limit is a temporary limit of a job's GPUs, because more pods could not be created.
type Limit struct {
	GPUs  int
	Why   string
	Until time.Time
}

// Limited returns a specification whose limits include the job's Limit.
func (e *Job) Limited(spec *job.Spec) *job.Spec {
	if !time.Now().Before(e.Limit.Until) {
		return spec
	}
	r := *spec
	r.GPUs, r.MaxGPUs = min(r.GPUs, e.Limit.GPUs), min(r.MaxGPUs, e.Limit.GPUs)
	return &r
}

// FailedCreate is the reason of a Job's event that a pod was not created.
const FailedCreate = "FailedCreate"

// A Refusal states why pods of a Job could not be created.
type Refusal struct {
	Why  string
	Last time.Time // of the last event, in whole seconds
}

// Later returns the later of r and the refusal in event ev; ev if both are within the same second.
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
