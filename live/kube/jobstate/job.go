package jobstate

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/phase"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Job is a job of the queue that has not ended, or that still has pods.
//
// Invariant: Held is what the last committed plan grants, or nothing after a loss that the
// scheduler knows of; Pods are those that exist, whatever the plan says.
type Job struct {
	Adapter jobadapter.Kind
	Object  Object          // as last seen; not to be changed
	Parsed  *jobadapter.Job // what object says
	Pods    []*corev1.Pod   // its workers, as last seen, terminal ones among them
	Helpers []*corev1.Pod   // its pods without GPUs, as last seen
	Spec    *job.Spec       // as the scheduler has it
	Held    Grant
	Status  job.Status // as the scheduler saw it with the last plan that was drawn

	Phase phase.Phase
	Times
	TrainsIn int64 // the generation of which the scheduler knows that it trains
	// Late is where a previous leader may still start the pods: it planned so, and the job's
	// object has not been written since, so that a late write of it would still be accepted.
	// Nil: nowhere.
	Late       cluster.Placement
	Readmitted int64 // the last generation for which this leader had Kueue take it back

	Trouble      string // with the last step; empty: none
	Setback      string // why the last generation was lost
	Agent        Agent
	Reports      []job.Report // of what it measured, oldest first: see keep
	PercentAt    time.Time    // of what Kubeflow Trainer said last of its progress
	TrainerError string       // what was wrong with that, as last logged

	Fit   Fit
	Limit Limit

	Retry
}

// Wants reports whether the committed plan has GPUs for the job.
func (e *Job) Wants() bool { return !e.Phase.Over() && e.Held.GPUs > 0 }

// Workers returns the pods that the plan has for the job.
func (e *Job) Workers() int { return e.WorkersOn(e.Held.GPUs) }

// WorkersOn returns how many workers so many GPUs are for.
func (e *Job) WorkersOn(gpus int) int { return gpus / max(1, e.Parsed.PerWorker.GPUs) }

// ID returns the job's name in the scheduler.
func (e *Job) ID() job.ID { return job.ID(e.Parsed.UID) }

// Present reports whether a pod is of the planned generation.
func (e *Job) Present(p *corev1.Pod) bool { return e.Wants() && Generation(p) == e.Held.Generation }

// Running reports whether the job's object is not suspended, and has been started by the scheduler.
func (e *Job) Running() bool { return !e.Parsed.Suspended && e.Parsed.Generation != 0 }

// Started reports whether the planned generation was started: its pods may appear at any time.
func (e *Job) Started() bool {
	return e.Wants() && (e.Stale() || e.Parsed.Generation == e.Held.Generation && (e.Running() || e.Parsed.Kueue && !e.Parsed.Gated))
}

// Node returns the one node on which all workers of the planned generation run until it is
// stopped; empty: they are, or may later be, on several.
func (e *Job) Node() string {
	if len(e.Held.Placement) != 1 || e.Parsed.Resizing == v1alpha1.InPlace || e.Parsed.Kueue {
		return ""
	}
	return string(e.Held.Placement[0].Node)
}

// Coming returns how many pods that are not in the plan may still appear on the job's node. The
// job's controller replaces failed pods until it reports that it has stopped, and these pods are
// not gated.
func (e *Job) Coming() int {
	planned := e.Started() && e.Parsed.Generation == e.Held.Generation
	if e.Parsed.Node == "" || e.Ended() || planned || e.Parsed.Suspended && !e.Parsed.Stopping {
		return 0
	}
	n := e.Parsed.Workers
	for _, p := range e.Live() {
		if Generation(p) == e.Parsed.Generation {
			n--
		}
	}
	return max(0, n)
}

// Done returns how many workers have succeeded, in any generation: their pods are not created again.
func (e *Job) Done() (n int) {
	for _, p := range e.Pods {
		if p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// Finished returns how many workers of an elastic Job or JobSet, or of a Job whose program speaks for all of its workers, the first
// ones, have succeeded without being told to stop. The workers of any other job may each have work of their own.
func (e *Job) Finished() (n int) {
	rigid := e.Parsed.Resizing == v1alpha1.Never
	if e.Parsed.Kind == "RayJob" || rigid && (e.Parsed.Kind != "Job" || e.Agent.Hello == nil) {
		return 0
	}
	for slices.ContainsFunc(e.Pods, func(p *corev1.Pod) bool {
		return Index(p) == n && p.Status.Phase == corev1.PodSucceeded && p.DeletionTimestamp == nil
	}) {
		n++
	}
	return n
}

// ToEnd is how long a job is not stopped after one of its workers has succeeded, so that it can
// end by itself. If it were stopped and started again, the workers that have succeeded would be
// missing.
const ToEnd = time.Minute

// EndsSoon reports whether a job is about to end by itself.
func (e *Job) EndsSoon(now time.Time) bool {
	return !e.Ending.IsZero() && now.Sub(e.Ending) < ToEnd
}

// Outlived returns how many workers of a Job, the first ones, have succeeded, if the others joined, or were started again, as its
// training ended and have nobody to train with: its workers train together, the first has ended for longer than it takes a job to
// end, and its program has said nothing since. 0: it is not so.
func (e *Job) Outlived(now time.Time) int {
	together := e.Parsed.Kind == "Job" && (e.Parsed.Resizing == v1alpha1.InPlace || e.Agent.Hello != nil)
	fixed := e.Parsed.Kueue && !e.Parsed.Sliced
	if !together || fixed || e.Ending.IsZero() || e.EndsSoon(now) || e.Agent.Heard.After(e.Ending) {
		return 0
	}
	return e.Finished()
}

// Live returns the pods that are not terminal.
func (e *Job) Live() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(e.Pods), Terminal)
}

// Terminal reports whether a pod has ended.
func Terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// Ready reports whether a pod runs, and is ready if it can be.
func Ready(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
		return false
	}
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return i < 0 || p.Status.Conditions[i].Status == corev1.ConditionTrue
}

// Generation returns the start of its job that a pod belongs to; 0: none of ours.
func Generation(p *corev1.Pod) int64 {
	n, err := strconv.ParseInt(p.Labels[v1alpha1.Generation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Index returns which of its job's workers a pod is; 0 if nothing says.
func Index(p *corev1.Pod) int {
	n, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return 0
	}
	return n
}
