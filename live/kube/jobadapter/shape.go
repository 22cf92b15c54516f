package jobadapter

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

type shape struct {
	suspended bool
	ended     *Ending
	workers   int
	pod       corev1.PodTemplateSpec
	also      []corev1.PodTemplateSpec
	roles     []role
	fixed     string // why the size is fixed; empty: it is not
	keeps     bool   // the API server accepts it in its own size only
	inPlace   bool   // the number of workers can change while the job runs
	// size is nil if the number of workers is fixed.
	size func(workers int) error
	// templates are not copies.
	templates func() []template
	affine    bool
	stopping  bool
	resources bool
}

type adapter struct {
	gvk  schema.GroupVersionKind
	o    *Options
	find func(o *unstructured.Unstructured, gpu corev1.ResourceName) (*shape, error)
}

func (a *adapter) look(o *unstructured.Unstructured) (*shape, error) {
	if err := plain(child(o.Object, "spec")); err != nil {
		return nil, err
	}
	return a.find(o, a.o.gpu())
}

func (a *adapter) GVK() schema.GroupVersionKind { return a.gvk }

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
	s.workers = min(s.workers+max(0, workers), maxWorkers+1) // so that the sum cannot overflow
}

func (s *shape) alike(gpu corev1.ResourceName) error {
	n := inventory.Request(&s.pod.Spec, gpu).GPUs
	if n == 0 {
		return errNoGPUs
	}
	for i := range s.also {
		if k := inventory.Request(&s.also[i].Spec, gpu).GPUs; k != n {
			return fmt.Errorf("some of its pods request %d GPUs and some %d, want the same number for all pods with GPUs", n, k)
		}
	}
	return nil
}

func (s *shape) worker(first *corev1.PodSpec, gpu corev1.ResourceName) cluster.Resources {
	each := inventory.Request(first, gpu)
	for i := range s.also {
		each = inventory.Most(each, inventory.Request(&s.also[i].Spec, gpu))
	}
	return each
}

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

const maxWorkers = 100_000

func checkWorkers(n int) error {
	if n < 1 || n > maxWorkers {
		return fmt.Errorf("%d workers, want 1 to %d", n, maxWorkers)
	}
	return nil
}

type template map[string]any

func (t template) spec() (corev1.PodTemplateSpec, error) {
	var p corev1.PodTemplateSpec
	if err := decode(t, &p); err != nil {
		return p, fmt.Errorf("pod template: %w", err)
	}
	return p, nil
}

func decode(from map[string]any, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(from, into)
}

func child(m map[string]any, fields ...string) map[string]any {
	for _, f := range fields {
		next, _ := m[f].(map[string]any)
		m = next
	}
	return m
}

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
