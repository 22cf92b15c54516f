package kube

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
)

// An entry is a job of the queue that has not ended, or whose pods have not.
//
// Invariant: held is what the last committed plan says, or nothing after a loss that the
// scheduler has heard of; pods are those that are there, whatever the plan says.
type entry struct {
	kind   jobadapter.Kind
	object *unstructured.Unstructured // as last seen; not to be changed
	job    *jobadapter.Job            // what object says
	pods   []*corev1.Pod              // its workers, as last seen, terminal ones among them
	aides  []*corev1.Pod              // its pods without GPUs, as last seen
	spec   *job.Spec                  // as the scheduler has it
	held   grant
	status job.Status // as the scheduler saw it with the last plan that was drawn

	ended    bool
	lost     bool  // its generation is over, and the scheduler has not yet heard
	unsaid   bool  // what it holds is not what the last plan says
	stale    bool  // the watches have not seen what was last written of it
	restored bool  // it was there when this leader took over, with the pods that it has
	told     int64 // the generation of which the scheduler knows that it trains
	// late is where a leader before may yet send the pods: it planned so, and nobody has written
	// to the job's object since that would keep a write of its from being taken; nil: nowhere.
	late cluster.Placement
	back int64 // the last generation for which this leader had Kueue take it back

	since time.Time // when the present generation was planned, or was first seen
	begun time.Time // when it was started, about
	up    time.Time // since when all of its pods run; zero: they do not
	// ending is since when it is known that a worker has succeeded; zero: none has.
	ending time.Time
	whole  time.Time // when it last had all its pods, or was not started
	asked  time.Time // when it was last asked why pods of it are missing

	trouble   string // with the last step; empty: none
	setback   string // why the last generation was lost
	agent     agent
	reports   []job.Report // of what it measured, oldest first: see keep
	percentAt time.Time    // of what Kubeflow Trainer said last of its progress
	trainer   string       // what was wrong with that, as last logged

	fit   fit
	limit limit

	retry
}

// A retry is when something that failed may be tried again.
type retry struct {
	failures  int // in a row
	notBefore time.Time
}

// Half the time from a first failure to the next attempt, and the longest there is.
const (
	backoff     = time.Second
	longBackoff = 10 * time.Minute
)

// fail notes a failure at a time.
func (r *retry) fail(now time.Time) {
	r.failures++
	r.notBefore = now.Add(min(backoff<<min(r.failures, 20), longBackoff))
}

// failFor notes a failure with an error: what failed is not tried again sooner than the API server
// asks for.
func (r *retry) failFor(now time.Time, err error) {
	r.fail(now)
	r.notBefore = now.Add(leave(r.notBefore.Sub(now), err))
}

// tries is how many failures in a row it takes until nothing is planned for a job before it
// may be tried again: GPUs would be kept for it in vain.
const tries = 3

// backsOff reports whether nothing is to be planned for a job at a time.
func (r *retry) backsOff(now time.Time) bool { return r.failures >= tries && now.Before(r.notBefore) }

// A grant is what a plan gives a job.
type grant struct {
	generation int64
	cluster.Allocation
	placement cluster.Placement
	batch     job.BatchSize
}

// wants reports whether the committed plan has GPUs for the job.
func (e *entry) wants() bool { return !e.ended && !e.lost && e.held.GPUs > 0 }

// workers returns the pods that the plan has for the job.
func (e *entry) workers() int { return e.workersOn(e.held.GPUs) }

// workersOn returns how many workers so many GPUs are for.
func (e *entry) workersOn(gpus int) int { return gpus / max(1, e.job.PerWorker.GPUs) }

// id returns the job's name in the scheduler.
func (e *entry) id() job.ID { return job.ID(e.job.UID) }

// present reports whether a pod is of the generation that is planned.
func (e *entry) present(p *corev1.Pod) bool { return e.wants() && generation(p) == e.held.generation }

// running reports whether the job's object lets pods run that the world started.
func (e *entry) running() bool { return !e.job.Suspended && e.job.Generation != 0 }

// started reports whether the planned generation was begun: its pods may come at any time.
func (e *entry) started() bool {
	return e.wants() && (e.stale || e.job.Generation == e.held.generation && (e.running() || e.job.Kueue && !e.job.Gated))
}

// node returns the one that all workers of the planned generation are on as long as it runs;
// empty: they are on several, or may come to be.
func (e *entry) node() string {
	if len(e.held.placement) != 1 || e.job.Resizing == v1alpha1.InPlace || e.job.Kueue {
		return ""
	}
	return string(e.held.placement[0].Node)
}

// coming returns how many pods may yet come to the job's node that the plan does not have: its
// controller makes up for pods that fail, until it says that it has stopped, and nobody holds
// them back.
func (e *entry) coming() int {
	planned := e.started() && e.job.Generation == e.held.generation
	if e.job.Node == "" || e.ended || planned || e.job.Suspended && !e.job.Stopping {
		return 0
	}
	n := e.job.Workers
	for _, p := range e.live() {
		if generation(p) == e.job.Generation {
			n--
		}
	}
	return max(0, n)
}

// done returns how many workers have succeeded, in whatever generation: they are not made again.
func (e *entry) done() (n int) {
	for _, p := range e.pods {
		if p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// finished returns how many workers of an elastic Job, the first ones, have succeeded without being
// told to stop.
func (e *entry) finished() (n int) {
	if e.job.Kind != "Job" || e.job.Resizing == v1alpha1.Never {
		return 0
	}
	for slices.ContainsFunc(e.pods, func(p *corev1.Pod) bool {
		return index(p) == n && p.Status.Phase == corev1.PodSucceeded && p.DeletionTimestamp == nil
	}) {
		n++
	}
	return n
}

// toEnd is how long a job of which a worker has succeeded is left to end by itself. If it
// were stopped, those that have succeeded would be missing among its workers from then on.
const toEnd = time.Minute

// ends reports whether a job is about to end by itself.
func (e *entry) ends(now time.Time) bool {
	return !e.ending.IsZero() && now.Sub(e.ending) < toEnd
}

// live returns the pods that are not terminal.
func (e *entry) live() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(e.pods), terminal)
}

// terminal reports whether nothing of a pod runs any more.
func terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// ready reports whether a pod runs, and is ready if it can be.
func ready(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
		return false
	}
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return i < 0 || p.Status.Conditions[i].Status == corev1.ConditionTrue
}

// generation returns the start of its job that a pod belongs to; 0: none of ours.
func generation(p *corev1.Pod) int64 {
	n, err := strconv.ParseInt(p.Labels[v1alpha1.Generation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// index returns which of its job's workers a pod is; 0 if nothing says.
func index(p *corev1.Pod) int {
	n, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return 0
	}
	return n
}
