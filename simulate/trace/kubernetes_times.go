package trace

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// times sets when a job was admitted, started and ended. It returns why the job is left out; "" if
// it is not. A time that is not in the dump is replaced by the best one that is, and that is counted.
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
		note("jobs that still ran, taken to end when the dump was made")
	}
	if failed {
		note("jobs that failed, run for as long as they did")
	}
	if j.quota != nil && j.quota.condition("Evicted") != nil {
		note("jobs that Kueue evicted, whose earlier runs count as waiting")
	}
	return ""
}

// end returns when a job ended, or when it was seen last.
func (d *kubeDump) end(seen *parse.Observed) time.Time {
	if seen.Ended.IsZero() {
		return d.taken
	}
	return seen.Ended
}

// admitted returns when Kueue reserved quota for a workload last.
func admitted(w *kubeObject) time.Time {
	if w == nil {
		return time.Time{}
	}
	if at := w.since("Admitted"); !at.IsZero() {
		return at
	}
	return w.since("QuotaReserved")
}

// started returns when a job had all its workers bound to nodes. If no pod is left, it returns
// when the job was admitted, or else when it was no longer suspended. from says which of these it
// is, unless it is the first. The zero time means that the job did not start.
func (j *kubeJob) started(admitted time.Time) (at time.Time, from string) {
	switch {
	case len(j.pods) >= j.shape.workers:
		return j.gathered(), ""
	case len(j.pods) > 0:
		return j.gathered(), "jobs of which some pods are not in the dump, taken to start with the others"
	case !admitted.IsZero():
		return admitted, "jobs without pods in the dump, taken to start when Kueue admitted them"
	}
	at = earlier(at, j.object.Status.Start)
	for _, part := range j.parts {
		at = earlier(at, part.Status.Start)
	}
	return at, "jobs without pods in the dump, taken to start when they were released: what they waited for nodes counts as running"
}

// gathered returns when as many pods of a job had been bound as it has workers, or all that
// are in the dump; pods that took the place of failed ones come later. The zero time: some
// still wait.
func (j *kubeJob) gathered() time.Time {
	var bound []time.Time
	for _, p := range j.pods {
		if !p.bound.IsZero() {
			bound = append(bound, p.bound)
		}
	}
	n := min(j.shape.workers, len(j.pods))
	if ended, _ := j.object.ended(); !ended.IsZero() { // it may have failed before it had all
		n = min(n, len(bound))
	}
	if n == 0 || n > len(bound) {
		return time.Time{}
	}
	slices.SortFunc(bound, time.Time.Compare)
	return bound[n-1]
}

// earlier returns the earlier of two times, of which zero ones are not known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
