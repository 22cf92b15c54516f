package jobadapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

type size struct {
	Workers  int               `json:"workers"`
	Requests map[string]string `json:"requests,omitempty"`
	Limits   map[string]string `json:"limits,omitempty"`
}

// asked is the annotation v1alpha1.Asked, valid while the object has the size Granted; otherwise someone has requested
// another size.
type asked struct {
	Asked   size `json:"asked"`
	Granted size `json:"granted"`
	// Flavor has the labels that choose added.
	Flavor map[string]string `json:"flavor,omitempty"`
}

var sized = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

func (a *asked) text() (string, error) {
	b, err := json.Marshal(a)
	return string(b), err
}

func askedOf(o *unstructured.Unstructured, s *shape, gpu corev1.ResourceName) (*size, error) {
	now := sizeOf(s, gpu)
	text := o.GetAnnotations()[v1alpha1.Asked]
	if text == "" {
		return now, nil
	}
	var a asked
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("annotation %s is invalid (%w): remove it, or restore what the scheduler wrote", v1alpha1.Asked, err)
	}
	if err := errors.Join(a.Granted.check(), a.Asked.check()); err != nil {
		return nil, fmt.Errorf("annotation %s: %w", v1alpha1.Asked, err)
	}
	if !a.Granted.same(now) {
		return now, nil
	}
	return &a.Asked, nil
}

func (s *size) check() error {
	if err := checkWorkers(s.Workers); err != nil {
		return err
	}
	for _, l := range []map[string]string{s.Requests, s.Limits} {
		for _, name := range slices.Sorted(maps.Keys(l)) {
			q := l[name]
			if name != string(corev1.ResourceCPU) && name != string(corev1.ResourceMemory) {
				return fmt.Errorf("resource %q, want cpu or memory", name)
			}
			if err := plainQuantity(q); err != nil {
				return err
			}
			if n, err := resource.ParseQuantity(q); err != nil || n.Sign() < 0 {
				return fmt.Errorf("%s %q, want a quantity of at least 0", name, q)
			}
		}
	}
	return nil
}

func sizeOf(s *shape, gpu corev1.ResourceName) *size {
	now := &size{Workers: s.workers}
	if i := main(&s.pod.Spec, gpu); i >= 0 && s.resources {
		r := &s.pod.Spec.Containers[i].Resources
		now.Requests, now.Limits = texts(r.Requests), texts(r.Limits)
	}
	return now
}

func main(p *corev1.PodSpec, gpu corev1.ResourceName) int {
	for i := range p.Containers {
		if inventory.Of(p.Containers[i].Resources, gpu).GPUs > 0 {
			return i
		}
	}
	return -1
}

func texts(l corev1.ResourceList) map[string]string {
	var all map[string]string
	for _, name := range sized {
		if q, ok := l[name]; ok {
			if all == nil {
				all = map[string]string{}
			}
			all[string(name)] = q.String()
		}
	}
	return all
}

func (s *size) same(t *size) bool {
	return s.Workers == t.Workers && maps.EqualFunc(s.Requests, t.Requests, equal) && maps.EqualFunc(s.Limits, t.Limits, equal)
}

func equal(a, b string) bool {
	if a == b {
		return true
	}
	p, err := resource.ParseQuantity(a)
	if err != nil {
		return false
	}
	q, err := resource.ParseQuantity(b)
	return err == nil && p.Cmp(q) == 0
}

func (s *size) asPod(of *shape, gpu corev1.ResourceName) *corev1.PodSpec {
	if !of.resources {
		return &of.pod.Spec
	}
	return s.on(&of.pod.Spec, gpu)
}

func (s *size) on(p *corev1.PodSpec, gpu corev1.ResourceName) *corev1.PodSpec {
	i := main(p, gpu)
	if i < 0 {
		return p
	}
	p = p.DeepCopy()
	r := &p.Containers[i].Resources
	r.Requests, r.Limits = with(r.Requests, s.Requests), with(r.Limits, s.Limits)
	return p
}

func with(l corev1.ResourceList, want map[string]string) corev1.ResourceList {
	if l == nil {
		l = corev1.ResourceList{}
	}
	for _, name := range sized {
		delete(l, name)
		if q, err := resource.ParseQuantity(want[string(name)]); err == nil {
			l[name] = q
		}
	}
	return l
}
