package jobstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/model/job"
)

// Unmade is how long pods of a Job may be missing until the scheduler reads the Job's events to
// find out why: its controller normally creates all pods at once. The delay doubles each time.
const Unmade = 10 * time.Second

// longestWhy is how many bytes are kept of an event's message, so that it fits, with our text, into
// an event of ours.
const longestWhy = 700

// Lacks reports whether pods of a job that was started or has grown have been missing for so long
// that the scheduler should read the events of its Job. Jobs have such events themselves; other
// kinds have them on the Jobs that they create.
func (e *Job) Lacks(now time.Time) bool {
	if e.Parsed.Kind != "Job" || !e.Running() {
		return false
	}
	return e.Made() < e.Workers() && now.Sub(e.CompleteAt) >= max(Unmade, 2*e.AskedAt.Sub(e.CompleteAt))
}

// Overdue reports whether watches should have shown by now what was written of a job, or the pods of one that
// was started: each takes no longer than prompt as a rule.
func (e *Job) Overdue(now time.Time, prompt time.Duration) bool {
	since := e.CompleteAt
	if e.Stale() {
		since = e.StaleSince
	}
	return now.Sub(since) > prompt && e.Awaits()
}

// Awaits reports whether the watches have yet to show something that was written of the job, or pods of it that
// come soon.
func (e *Job) Awaits() bool {
	return e.Stale() || e.Started() && e.Running() && e.Made() < e.Workers()
}

// Made returns how many workers need no new pod: those that have or had a pod of the planned
// generation, and those that have succeeded in another one.
func (e *Job) Made() (n int) {
	for _, p := range e.Pods {
		if e.Present(p) || p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// A Limit is the most that a job can be given at present, because more of its pods are refused.
type Limit struct {
	GPUs  int
	Why   string
	Until time.Time // it is tried again
}

// Limited returns a job's specification with at most the GPUs of its limit.
func (e *Job) Limited(spec *job.Spec) *job.Spec {
	if !time.Now().Before(e.Limit.Until) {
		return spec
	}
	r := *spec
	r.GPUs, r.MaxGPUs = min(r.GPUs, e.Limit.GPUs), min(r.MaxGPUs, e.Limit.GPUs)
	return &r
}

// FailedCreate is the reason of an event of a Job that says that a pod could not be created.
const FailedCreate = "FailedCreate"

// A Refusal is why pods of a Job could not be created, by one of its events.
type Refusal struct {
	Why  string    // empty: no event says so
	Last time.Time // when it was said last, in whole seconds
}

// Later returns the later of a refusal and what an event says; the latter if both are of one second.
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
