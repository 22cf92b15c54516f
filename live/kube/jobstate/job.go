package jobstate

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Job is a job of the queue that has not ended, or that still has pods.
//
// Invariant: Held is the grant of the last committed plan, or empty after a loss that the scheduler has processed.
type Job struct {
	driver.Entry // Over is set when Phase becomes Ended
	Adapter      jobadapter.Kind
	Object       Object // must not be changed
	Parsed       *jobadapter.Job
	Pods         []*corev1.Pod     // workers, including terminal ones
	Helpers      []*corev1.Pod     // without GPUs
	Spec         *job.Spec         // last sent to the scheduler
	Types        []cluster.GPUType // on whose nodes kube-scheduler accepts its pods; nil: any
	Parts        []job.Part        // of its GPUs, if kube-scheduler accepts its pods only on some nodes of a type; nil: on all
	Nowhere      string            // for users, why there are none; empty: there are
	Held         Grant
	Status       job.Status // at the last plan

	Phase Phase
	Times
	TrainsIn int64 // generation reported as training
	// Late has the nodes on which a previous leader may still start the pods; nil: none.
	Late       cluster.Placement
	Readmitted int64 // generation of the last reactivation of the Workload in Kueue

	Trouble      string
	Setback      string
	Agent        agent
	Reports      []job.Report // oldest first: see Keep
	PercentAt    time.Time    // time of Kubeflow Trainer's last progress
	TrainerError string

	Fit   Fit
	Limit Limit

	Retry
}

// Wants reports whether the last written plan has GPUs for the job, and the job has neither lost them nor ended.
func (e *Job) Wants() bool { return !e.Phase.over() && e.Held.GPUs > 0 }

// Workers returns the planned number of workers.
func (e *Job) Workers() int { return e.WorkersOn(e.Held.GPUs) }

// WorkersOn returns how many of the job's workers fit on the given number of GPUs.
func (e *Job) WorkersOn(gpus int) int { return gpus / max(1, e.Parsed.PerWorker.GPUs) }

// Present reports whether pod p belongs to the planned start of the job.
func (e *Job) Present(p *corev1.Pod) bool { return e.Wants() && Generation(p) == e.Held.Generation }

// Running reports whether the job was started and is not suspended.
func (e *Job) Running() bool { return !e.Parsed.Suspended && e.Parsed.Generation != 0 }

// Started reports whether the planned start was written to the job's object, so that pods may appear.
func (e *Job) Started() bool {
	return e.Wants() && (e.Stale() || e.Parsed.Generation == e.Held.Generation && (e.Running() || e.Parsed.Kueue && !e.Parsed.Gated))
}

// Node returns the node on which all pods of the planned start run, or "" if they may be on several nodes.
func (e *Job) Node() string {
	if len(e.Held.Placement) != 1 || e.Parsed.Resizing == v1alpha1.InPlace || e.Parsed.Kueue {
		return ""
	}
	return string(e.Held.Placement[0].Node)
}

// Coming counts the unplanned pods that may still appear on the job's node: the job's controller replaces failed pods
// until it has stopped.
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

// Done counts the workers that have succeeded, in any start of the job.
func (e *Job) Done() (n int) {
	for _, p := range e.Pods {
		if p.Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// Finished counts the workers with indexes 0, 1, 2, … up to the first that has not succeeded or was deleted. It is 0
// for jobs whose workers may have separate work: RayJobs, and inelastic jobs except Jobs whose program sends messages.
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

// ToEnd is how long a job may take to end by itself after its first worker has succeeded.
const ToEnd = time.Minute

// endsSoon reports whether a worker first succeeded less than ToEnd ago: the job probably ends by itself.
func (e *Job) endsSoon(now time.Time) bool {
	return !e.Ending.IsZero() && now.Sub(e.Ending) < ToEnd
}

// Outlived returns Finished if the other workers of a Job have no partners left, otherwise 0. Three conditions must
// hold: the workers train together, ToEnd has passed since the first success, and the program has sent nothing since
// then.
func (e *Job) Outlived(now time.Time) int {
	together := e.Parsed.Kind == "Job" && (e.Parsed.Resizing == v1alpha1.InPlace || e.Agent.Hello != nil)
	fixed := e.Parsed.Kueue && !e.Parsed.Sliced
	if !together || fixed || e.Ending.IsZero() || e.endsSoon(now) || e.Heard.After(e.Ending) {
		return 0
	}
	return e.Finished()
}

// Live returns the pods that are not Terminal.
func (e *Job) Live() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(e.Pods), Terminal)
}

// Terminal reports whether a pod has ended.
func Terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// Ready reports whether a pod runs and its condition Ready is true or missing.
func Ready(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
		return false
	}
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return i < 0 || p.Status.Conditions[i].Status == corev1.ConditionTrue
}

// Generation returns to which start of its job a pod belongs, counted from 1; 0 if the scheduler did not start it.
func Generation(p *corev1.Pod) int64 {
	n, err := strconv.ParseInt(p.Labels[v1alpha1.Generation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Index returns the index of a pod among its job's workers, or 0 if it has none.
func Index(p *corev1.Pod) int {
	n, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return 0
	}
	return n
}
