package jobstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/model/job"
)

// Unmade is how long pods of a Job may be missing before its events are read for the cause. Each read doubles the
// delay.
const Unmade = 10 * time.Second

const longestWhy = 700

// Lacks reports whether pods of a started Job have been missing so long that its events should be read now.
func (e *Job) Lacks(now time.Time) bool {
	if e.Parsed.Kind != "Job" || !e.Running() {
		return false
	}
	return e.Made() < e.Workers() && now.Sub(e.CompleteAt) >= max(Unmade, 2*e.AskedAt.Sub(e.CompleteAt))
}

// Overdue reports whether the watches have lacked a write, or started pods, for longer than prompt.
func (e *Job) Overdue(now time.Time, prompt time.Duration) bool {
	since := e.CompleteAt
	if e.Stale() {
		since = e.StaleSince
	}
	return now.Sub(since) > prompt && e.Awaits()
}

// Awaits reports whether the watches lack a write to the job, or some of its started pods.
func (e *Job) Awaits() bool {
	return e.Stale() || e.Started() && e.Running() && e.Made() < e.Workers()
}

// Made counts the job's workers that have succeeded or have a pod of the planned start.
func (e *Job) Made() (n int) {
	for _, p := range e.Pods {
		if e.Present(p) || p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// A Limit is a temporary limit on a job's GPUs after pods could not be created.
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

// FailedCreate is the reason in the Job controller's event about a pod that it could not create.
const FailedCreate = "FailedCreate"

// A Refusal states why pods of a Job could not be created.
type Refusal struct {
	Why  string
	Last time.Time // of the last event, in whole seconds
}

// Later returns the later of r and the refusal in event ev; in the same second, that in ev.
func (r Refusal) Later(ev *corev1.Event) Refusal {
	if ev.Reason != FailedCreate || ev.LastTimestamp.Time.Before(r.Last) {
		return r
	}
	return Refusal{strings.ToValidUTF8(ev.Message[:min(len(ev.Message), longestWhy)], ""), ev.LastTimestamp.Time}
}

// Since reports whether creation of a pod was refused at or after t.
func (r Refusal) Since(t time.Time) bool {
	return r.Why != "" && !r.Last.Before(t.Truncate(time.Second))
}
