package jobadapter

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

// A Fitting changes the CPUs and memory of a running pod: from Is to ToBe.
type Fitting struct{ Is, ToBe *corev1.Pod }

// Shrinks reports whether no request of the pod grows.
func (f *Fitting) Shrinks(gpu string) bool {
	a, b := inventory.Request(&f.Is.Spec, corev1.ResourceName(gpu)), inventory.Request(&f.ToBe.Spec, corev1.ResourceName(gpu))
	return b.CPUs <= a.CPUs && b.Memory <= a.Memory
}

func (a *adapter) Fit(o *unstructured.Unstructured, all []*corev1.Pod, g *Grant) ([]Fitting, error) {
	s, err := a.look(o)
	if err != nil {
		return nil, fmt.Errorf("%s: fit: %w", name(o), err)
	}
	if !s.resources || o.GetLabels()[kueueQueue] != "" {
		return nil, nil
	}
	ask, err := askedOf(o, s, a.o.gpu())
	if err != nil {
		return nil, fmt.Errorf("%s: fit: %w", name(o), err)
	}
	var fits []Fitting
	for _, p := range all {
		to, err := fitted(p, ask, g, a.o.gpu())
		if err != nil {
			return nil, fmt.Errorf("pod %s/%s: fit: %w", p.Namespace, p.Name, err)
		}
		if to != nil {
			fits = append(fits, Fitting{p, to})
		}
	}
	return fits, nil
}

func fitted(p *corev1.Pod, ask *size, g *Grant, gpu corev1.ResourceName) (*corev1.Pod, error) {
	i := main(&p.Spec, gpu)
	if i < 0 || p.Spec.Resources != nil {
		return nil, nil
	}
	want, err := granted(ask.on(&p.Spec, gpu), i, g, gpu)
	if err != nil {
		return nil, err
	}
	next := p.DeepCopy()
	c := &next.Spec.Containers[i]
	for _, one := range []struct {
		name    corev1.ResourceName
		granted bool
	}{{corev1.ResourceCPU, g.CPUs > 0}, {corev1.ResourceMemory, g.Memory > 0}} {
		if one.granted && refit(&c.Resources, &want, one.name) && restarts(c, one.name) {
			return nil, nil
		}
	}
	is := &p.Spec.Containers[i].Resources
	if same(is.Requests, c.Resources.Requests) && same(is.Limits, c.Resources.Limits) || inventory.QoS(&p.Spec) != inventory.QoS(&next.Spec) {
		return nil, nil
	}
	return next, nil
}

// refit raises existing limits to the new request; limits of a running pod cannot be added or removed.
func refit(r, want *corev1.ResourceRequirements, name corev1.ResourceName) bool {
	q := want.Requests[name]
	if q.Cmp(inventory.Either(r, name)) == 0 {
		return false
	}
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	r.Requests[name] = q
	limit, limited := r.Limits[name]
	if wanted, ok := want.Limits[name]; ok && limited {
		limit = wanted
	}
	if limit.Cmp(q) < 0 {
		limit = q
	}
	if limited {
		r.Limits[name] = limit
	}
	return true
}

func restarts(c *corev1.Container, name corev1.ResourceName) bool {
	return slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
		return p.ResourceName == name && p.RestartPolicy == corev1.RestartContainer
	})
}

func same(a, b corev1.ResourceList) bool {
	return !slices.ContainsFunc(sized, func(name corev1.ResourceName) bool {
		p, q := a[name], b[name]
		return p.Cmp(q) != 0
	})
}
