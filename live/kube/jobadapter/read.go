package jobadapter

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

const (
	kueueSlices = "kueue.x-k8s.io/elastic-job" // a scheduling gate

	kueueQueue = "kueue.x-k8s.io/queue-name"         // a label
	kueueGates = "kueue.x-k8s.io/admission-gated-by" // an annotation, separated by commas
)

func (a *adapter) Read(o *unstructured.Unstructured, d *v1alpha1.JobDefaults, weight int32) *Job {
	j := a.meta(o)
	s, err := a.look(o)
	if s != nil {
		a.shape(j, o, s)
	}
	if err == nil {
		err = errors.Join(checkWorkers(s.workers), s.bypassed(o))
	}
	if err != nil {
		j.Problem = err.Error()
		return j
	}
	ask, err := askedOf(o, s, a.o.gpu())
	if err != nil {
		j.Problem = err.Error()
		return j
	}
	r := &request{annotations: annotations{of: o.GetAnnotations()}, j: j, s: s, o: a.o, d: d, flavor: flavorOf(o)}
	r.workers, r.each = ask.Workers, s.worker(ask.asPod(s, a.o.gpu()), a.o.gpu())
	spec := r.spec(weight)
	if len(r.problems) > 0 {
		j.Problem = strings.Join(r.problems, "; ")
		j.Plain = r.plain(weight)
		return j
	}
	j.Spec = spec
	return j
}

func (r *request) plain(weight int32) *job.Spec {
	said := r.j.Resizing
	defer func() { r.j.Resizing = said }()
	right := maps.Clone(r.of)
	for _, key := range r.spoilt {
		delete(right, key)
	}
	without := &request{annotations: annotations{of: right}, j: r.j, s: r.s, o: r.o, d: r.d, flavor: r.flavor, workers: r.workers, each: r.each}
	if spec := without.spec(weight); len(without.problems) == 0 {
		return spec
	}
	return nil
}

func (a *adapter) meta(o *unstructured.Unstructured) *Job {
	j := &Job{
		UID: string(o.GetUID()), Kind: a.gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName(),
		Created:  o.GetCreationTimestamp().UTC(),
		OptOut:   o.GetAnnotations()[v1alpha1.OptOut] == "true",
		Kueue:    o.GetLabels()[kueueQueue] != "",
		Gated:    slices.Contains(gates(o), v1alpha1.AdmissionGate),
		Queue:    o.GetLabels()[v1alpha1.QueueLabel],
		Part:     partOf(o),
		Resizing: v1alpha1.Never,
	}
	if o.GetDeletionTimestamp() != nil {
		j.Ended = &Ending{Outcome: scheduler.Cancelled, Detail: "deleted"}
	}
	return j
}

func (a *adapter) shape(j *Job, o *unstructured.Unstructured, s *shape) {
	j.Suspended, j.Stopping, j.Workers, j.Sliced = s.suspended, s.stopping, s.workers, j.Kueue && sliced(&s.pod.Spec)
	if s.ended != nil {
		j.Ended = s.ended
	}
	j.PerWorker = s.worker(&s.pod.Spec, a.o.gpu())
	j.Roles = s.constraints(o)
	j.FixedRequests = !s.resources || s.pod.Spec.Resources != nil
	j.Grace, j.PriorityClass = grace(&s.pod.Spec), s.pod.Spec.PriorityClassName
	for i := range s.also {
		j.Grace = max(j.Grace, grace(&s.also[i].Spec))
		j.PriorityClass = cmp.Or(j.PriorityClass, s.also[i].Spec.PriorityClassName)
	}
	if s.pod.Labels[v1alpha1.JobUID] == string(o.GetUID()) {
		n, err := strconv.ParseInt(s.pod.Labels[v1alpha1.Generation], 10, 64)
		if err == nil {
			j.Generation = max(0, n)
		}
		j.OnHold = j.Suspended && !j.Kueue && o.GetAnnotations()[v1alpha1.Started] != ""
		j.Part = nil // it was started by itself, so its owner was written afterwards
		j.Node = s.aimed(o)
	}
}

func grace(p *corev1.PodSpec) time.Duration {
	if p.TerminationGracePeriodSeconds == nil {
		return corev1.DefaultTerminationGracePeriodSeconds * time.Second
	}
	return time.Duration(min(max(0, *p.TerminationGracePeriodSeconds), 86400)) * time.Second
}

var owners = []string{"JobSet", "TrainJob", "RayJob", "RayCluster"}

func partOf(o *unstructured.Unstructured) *metav1.OwnerReference {
	by := metav1.GetControllerOfNoCopy(o)
	if by == nil || !slices.Contains(owners, by.Kind) {
		return nil
	}
	return by
}

func gates(o *unstructured.Unstructured) []string {
	var all []string
	for g := range strings.SplitSeq(o.GetAnnotations()[kueueGates], ",") {
		if g = strings.TrimSpace(g); g != "" {
			all = append(all, g)
		}
	}
	return all
}

// sliced reports whether pods have Kueue's gate for Jobs admitted in slices (feature gate
// ElasticJobsViaWorkloadSlices).
func sliced(p *corev1.PodSpec) bool {
	return slices.ContainsFunc(p.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == kueueSlices })
}

// AwaitsQuota reports whether a pod waits for quota in Kueue.
func AwaitsQuota(p *corev1.Pod) bool { return sliced(&p.Spec) }

func name(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
}
