package trace

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

func (d *kubeDump) times(j *kubeJob, seen *parse.Observed) (drop string) {
	note := d.o.Summary.Note
	seen.Admitted = j.admitted()
	var failed bool
	seen.Ended, failed = j.object.ended()
	var from string
	seen.Started, from = j.started(seen.Admitted)
	stopped := j.stopped()
	if past := j.past(); seen.Started.IsZero() && past > 0 {
		seen.Started = stopped.Add(-past)
	}
	if seen.Ended.IsZero() && !seen.Started.IsZero() && stopped.After(seen.Started) {
		note("jobs evicted or suspended when the dump was made, treated as ending then")
		seen.Ended = stopped
	}
	w := j.quota()
	switch {
	case seen.Started.IsZero() && seen.Ended.IsZero() && w != nil && !w.since("Evicted").IsZero():
		return "jobs evicted when the dump was made dropped: Kueue stores no start of their run"
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
	if w != nil && w.condition("Evicted") != nil && w.since("Evicted").IsZero() {
		note("jobs that Kueue evicted; their earlier runs count as waiting")
	}
	return ""
}

func (d *kubeDump) end(seen *parse.Observed) time.Time {
	if seen.Ended.IsZero() {
		return d.taken
	}
	return seen.Ended
}

func (j *kubeJob) stopped() time.Time {
	at := j.object.since("Suspended")
	if w := j.quota(); w != nil {
		at = latest(at, w.since("Evicted"))
	}
	return at
}

func (j *kubeJob) past() time.Duration {
	if w := j.quota(); w != nil && !w.since("Evicted").IsZero() {
		return w.workload.past
	}
	return 0
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
	case !j.object.ran().IsZero():
		return j.object.ran(), "jobs without pods in the dump, treated as starting when Volcano ran them"
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
