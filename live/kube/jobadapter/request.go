package jobadapter

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/model/cluster"
)

func (t template) request(ask *size, g *Grant, gpu corev1.ResourceName) error {
	if !(g.CPUs >= 0 && g.CPUs <= inventory.MostCPUs) || g.Memory < 0 || g.Memory > inventory.MostMemory {
		return fmt.Errorf("%g CPUs and %d bytes of memory for a worker, want at least 0, and at most %d and %d", g.CPUs, g.Memory, int64(inventory.MostCPUs), int64(inventory.MostMemory))
	}
	p, err := t.spec()
	if err != nil {
		return err
	}
	i := main(&p.Spec, gpu)
	if i < 0 {
		return errNoGPUs
	}
	list, _ := child(t, "spec")["containers"].([]any)
	c, _ := list[i].(map[string]any)
	asks := ask.on(&p.Spec, gpu)
	want, err := granted(asks, i, g, gpu)
	if err != nil {
		return err
	}
	write(c, "requests", p.Spec.Containers[i].Resources.Requests, want.Requests)
	write(c, "limits", p.Spec.Containers[i].Resources.Limits, want.Limits)
	return nil
}

func granted(p *corev1.PodSpec, i int, g *Grant, gpu corev1.ResourceName) (corev1.ResourceRequirements, error) {
	p = p.DeepCopy()
	r := &p.Containers[i].Resources
	rest := others(p, i, gpu)
	if g.CPUs > 0 {
		milli := int64(math.Floor(g.CPUs*1000+1e-6)) - int64(math.Round(rest.CPUs*1000))
		if milli < 1 {
			return *r, fmt.Errorf("%g CPUs for a worker, want more than the %g that its other containers request", g.CPUs, rest.CPUs)
		}
		give(r, corev1.ResourceCPU, resource.NewMilliQuantity(milli, resource.DecimalSI))
	}
	if g.Memory > 0 {
		left := g.Memory - rest.Memory
		if left < 1 {
			return *r, fmt.Errorf("%d bytes of memory for a worker, want more than the %d that its other containers request", g.Memory, rest.Memory)
		}
		give(r, corev1.ResourceMemory, resource.NewQuantity(left, resource.BinarySI))
	}
	all := inventory.Request(p, gpu)
	if g.CPUs > 0 && all.CPUs > g.CPUs+1e-6 || g.Memory > 0 && all.Memory > g.Memory {
		return *r, fmt.Errorf("%g CPUs and %d bytes of memory for a worker, want at least the %g and %d that its init containers request", g.CPUs, g.Memory, all.CPUs, all.Memory)
	}
	return *r, nil
}

func others(p *corev1.PodSpec, i int, gpu corev1.ResourceName) cluster.Resources {
	all := inventory.List(p.Overhead, gpu)
	for k := range p.Containers {
		if k != i {
			all = inventory.Sum(all, inventory.Of(p.Containers[k].Resources, gpu))
		}
	}
	for k := range p.InitContainers {
		if inventory.Sidecar(&p.InitContainers[k]) {
			all = inventory.Sum(all, inventory.Of(p.InitContainers[k].Resources, gpu))
		}
	}
	return all
}

// A limit equal to the old request stays equal; a lower limit is raised.
func give(r *corev1.ResourceRequirements, name corev1.ResourceName, q *resource.Quantity) {
	before := inventory.Either(r, name)
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	r.Requests[name] = *q
	if limit, ok := r.Limits[name]; ok && (limit.Cmp(before) == 0 || limit.Cmp(*q) < 0) {
		r.Limits[name] = *q
	}
}

// Equal quantities keep their notation.
func write(c map[string]any, list string, is, want corev1.ResourceList) {
	for _, name := range sized {
		a, had := is[name]
		b, has := want[name]
		switch {
		case has && (!had || a.Cmp(b) != 0):
			grow(c, "resources", list)[string(name)] = b.String()
		case had && !has:
			delete(grow(c, "resources", list), string(name))
		}
	}
}
