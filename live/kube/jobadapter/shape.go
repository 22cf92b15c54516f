package jobadapter

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/oxgang/oxgang/live/kube/pods"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

// A shape describes the workers of a job, and where in the object they are described: the kinds of
// job differ in nothing else.
type shape struct {
	suspended bool
	ended     *Ending
	workers   int                      // number of pods with GPUs that the object has now
	pod       corev1.PodTemplateSpec   // of the first of them
	also      []corev1.PodTemplateSpec // of the others, if they have other templates
	fixed     string                   // why the number of workers cannot be changed; empty: it can
	inPlace   bool                     // the number of workers can be changed while the job runs
	// size sets the number of workers; nil if it is fixed.
	size func(workers int) error
	// templates returns the pod templates of the workers, without copies.
	templates func() []template
	affine    bool // the node affinity of the templates may be changed
	stopping  bool // the job is suspended, but its controller may still create pods
	// resources says that the requests of containers may be changed.
	resources bool
}

// An adapter implements Kind by a function that finds the shape of an object. The shape points into
// the object: changes of the shape change the object.
type adapter struct {
	gvk  schema.GroupVersionKind
	o    *Options
	find func(o *unstructured.Unstructured, gpu corev1.ResourceName) (*shape, error)
}

// look returns the shape of an object. With an error, the shape is incomplete or nil.
func (a *adapter) look(o *unstructured.Unstructured) (*shape, error) {
	if err := plain(child(o.Object, "spec")); err != nil {
		return nil, err
	}
	return a.find(o, a.o.gpu())
}

// GVK implements Kind.
func (a *adapter) GVK() schema.GroupVersionKind { return a.gvk }

// add adds pods of one more template to a shape.
func (s *shape) add(pod corev1.PodTemplateSpec, at template, workers int) {
	before := s.templates
	s.templates = func() []template {
		if before == nil {
			return []template{at}
		}
		return append(before(), at)
	}
	if s.workers == 0 {
		s.pod = pod
	} else {
		s.also = append(s.also, pod)
	}
	s.workers = min(s.workers+max(0, workers), maxWorkers+1) // bounded, so that the sum cannot overflow
}

// alike returns an error unless a job has pods with GPUs, and all of them have the same number.
func (s *shape) alike(gpu corev1.ResourceName) error {
	n := pods.Request(&s.pod.Spec, gpu).GPUs
	if n == 0 {
		return errNoGPUs
	}
	for i := range s.also {
		if k := pods.Request(&s.also[i].Spec, gpu).GPUs; k != n {
			return fmt.Errorf("some of its pods ask for %d GPUs and some for %d, want as many for all that have any", n, k)
		}
	}
	return nil
}

// worker returns what a worker requests; if workers differ, the most that any of them requests.
// first is the pod of the first template.
func (s *shape) worker(first *corev1.PodSpec, gpu corev1.ResourceName) cluster.Resources {
	each := pods.Request(first, gpu)
	for i := range s.also {
		each = pods.Most(each, pods.Request(&s.also[i].Spec, gpu))
	}
	return each
}

// endedBy returns how an object ended by its conditions; nil if it has not.
func endedBy(o *unstructured.Unstructured, done, failed string) *Ending {
	all, _ := child(o.Object, "status")["conditions"].([]any)
	for _, one := range all {
		c, _ := one.(map[string]any)
		reason, _ := c["reason"].(string)
		message, _ := c["message"].(string)
		e := &Ending{Outcome: scheduler.Done, Detail: detail(reason, message)}
		switch {
		case c["status"] != "True":
		case c["type"] == done:
			return e
		case c["type"] == failed:
			e.Outcome = scheduler.Failed
			return e
		}
	}
	return nil
}

// maxWorkers bounds the workers of a job.
const maxWorkers = 100_000

// checkWorkers returns an error unless n is from 1 to maxWorkers.
func checkWorkers(n int) error {
	if n < 1 || n > maxWorkers {
		return fmt.Errorf("%d workers, want 1 to %d", n, maxWorkers)
	}
	return nil
}

// A template is a pod template within an object. It is no copy: changes of it change the object.
type template map[string]any

// spec returns the template as a typed value.
func (t template) spec() (corev1.PodTemplateSpec, error) {
	var p corev1.PodTemplateSpec
	if err := decode(t, &p); err != nil {
		return p, fmt.Errorf("pod template: %w", err)
	}
	return p, nil
}

// decode reads a part of an object into a typed value.
func decode(from map[string]any, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(from, into)
}

// child returns the map of a field, without a copy; nil if it has none.
func child(m map[string]any, fields ...string) map[string]any {
	for _, f := range fields {
		next, _ := m[f].(map[string]any)
		m = next
	}
	return m
}

// grow returns the map of a field, without a copy. It adds an empty map if there is none.
func grow(m map[string]any, fields ...string) map[string]any {
	for _, f := range fields {
		next, ok := m[f].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[f] = next
		}
		m = next
	}
	return m
}
