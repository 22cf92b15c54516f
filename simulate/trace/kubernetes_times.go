package trace

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// times sets the times of a job, or returns why it is dropped. It replaces missing times by the best known
// ones, and counts them.
func (d *kubeDump) times(j *kubeJob, seen *parse.Observed) (drop string) {
	note := d.o.Summary.Note
	seen.Admitted = admitted(j.quota)
	var failed bool
	seen.Ended, failed = j.object.ended()
	var from string
	seen.Started, from = j.started(seen.Admitted)
	switch {
	case seen.Started.IsZero() && seen.Ended.IsZero():
		return "jobs that have not started dropped"
	case seen.Started.IsZero():
		return "jobs that ended without having started dropped"
	}
	if from != "" {
		note(from)
	}
	if seen.Started.Before(seen.Submitted) { // clocks differ
		seen.Started = seen.Submitted
	}
	if seen.Ended.IsZero() {
		note("jobs still running when the dump was made, treated as ending there")
	}
	if failed {
		note("failed jobs, simulated with their observed running time")
	}
	if j.quota != nil && j.quota.condition("Evicted") != nil {
		note("jobs that Kueue evicted; their earlier runs count as waiting")
	}
	return ""
}

// end returns when a job ended, or the time of the dump.
func (d *kubeDump) end(seen *parse.Observed) time.Time {
	if seen.Ended.IsZero() {
		return d.taken
	}
	return seen.Ended
}

func admitted(w *kubeObject) time.Time {
	if w == nil {
		return time.Time{}
	}
	if at := w.since("Admitted"); !at.IsZero() {
		return at
	}
	return w.since("QuotaReserved")
}

// started returns when all workers were bound to nodes. Without pods it returns when the job was admitted, or
// when its suspension ended, with a note. Zero: not started.
func (j *kubeJob) started(admitted time.Time) (at time.Time, from string) {
	switch {
	case len(j.pods) >= j.shape.workers:
		return j.gathered(), ""
	case len(j.pods) > 0:
		return j.gathered(), "jobs with pods missing from the dump, treated as starting with the other pods"
	case !admitted.IsZero():
		return admitted, "jobs without pods in the dump, treated as starting when Kueue admitted them"
	}
	at = earlier(at, j.object.Status.Start)
	for _, part := range j.parts {
		at = earlier(at, part.Status.Start)
	}
	return at, "jobs without pods in the dump, treated as starting when their suspension ended; waiting for nodes counts as running"
}

// gathered returns when as many pods were bound as the job has workers, or all pods in the dump. Zero: some
// still wait.
func (j *kubeJob) gathered() time.Time {
	var bound []time.Time
	for _, p := range j.pods {
		if !p.bound.IsZero() {
			bound = append(bound, p.bound)
		}
	}
	n := min(j.shape.workers, len(j.pods))
	if ended, _ := j.object.ended(); !ended.IsZero() { // it may have failed before all were bound
		n = min(n, len(bound))
	}
	if n == 0 || n > len(bound) {
		return time.Time{}
	}
	slices.SortFunc(bound, time.Time.Compare)
	return bound[n-1]
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
