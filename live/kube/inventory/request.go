package inventory

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/oxgang/oxgang/model/cluster"
)

// Upper bounds of requests, so that sums do not overflow.
const (
	MostGPUs   = 1 << 20
	MostCPUs   = 1 << 20 // cores
	MostMemory = 1 << 50 // bytes
)

// Request returns the GPUs (the resource gpu), CPUs and memory that a pod requests, including overhead. A pod-level
// request replaces the larger of the containers' sum and the need of an init container. A missing request equals its
// limit. Amounts range from 0 to the Most constants.
func Request(spec *corev1.PodSpec, gpu corev1.ResourceName) cluster.Resources {
	var running, starting cluster.Resources
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		now := Sum(running, Of(c.Resources, gpu))
		if Sidecar(c) {
			running = now
		}
		starting = Most(starting, now)
	}
	for i := range spec.Containers {
		running = Sum(running, Of(spec.Containers[i].Resources, gpu))
	}
	all := Most(running, starting)
	if whole := spec.Resources; whole != nil {
		all = over(all, whole)
	}
	return Sum(all, List(spec.Overhead, gpu))
}

// Sidecar reports whether an init container keeps running.
func Sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// Of returns a container's requests. A missing request equals its limit.
func Of(r corev1.ResourceRequirements, gpu corev1.ResourceName) cluster.Resources {
	return cluster.Resources{
		GPUs:   gpus(Either(&r, gpu)),
		CPUs:   cores(Either(&r, corev1.ResourceCPU)),
		Memory: bytes(Either(&r, corev1.ResourceMemory)),
	}
}

// List returns the GPUs, CPUs and memory in a list.
func List(l corev1.ResourceList, gpu corev1.ResourceName) cluster.Resources {
	return Of(corev1.ResourceRequirements{Requests: l}, gpu)
}

// Either returns the request for a resource, or else its limit.
func Either(r *corev1.ResourceRequirements, name corev1.ResourceName) resource.Quantity {
	if q, ok := r.Requests[name]; ok {
		return q
	}
	return r.Limits[name]
}

func over(a cluster.Resources, whole *corev1.ResourceRequirements) cluster.Resources {
	if has(whole.Requests, corev1.ResourceCPU) || has(whole.Limits, corev1.ResourceCPU) {
		a.CPUs = cores(Either(whole, corev1.ResourceCPU))
	}
	if has(whole.Requests, corev1.ResourceMemory) || has(whole.Limits, corev1.ResourceMemory) {
		a.Memory = bytes(Either(whole, corev1.ResourceMemory))
	}
	return a
}

func has(l corev1.ResourceList, name corev1.ResourceName) bool {
	_, ok := l[name]
	return ok
}

// Sum returns a plus b, limited to the Most constants.
func Sum(a, b cluster.Resources) cluster.Resources {
	return cluster.Resources{
		GPUs:   min(a.GPUs+b.GPUs, MostGPUs),
		CPUs:   min(a.CPUs+b.CPUs, MostCPUs),
		Memory: min(a.Memory+b.Memory, MostMemory),
	}
}

// Most returns the larger amount of a and b for each resource.
func Most(a, b cluster.Resources) cluster.Resources {
	return cluster.Resources{GPUs: max(a.GPUs, b.GPUs), CPUs: max(a.CPUs, b.CPUs), Memory: max(a.Memory, b.Memory)}
}

func gpus(q resource.Quantity) int {
	if all, ok := clamp(&q, MostGPUs); ok {
		return int(all)
	}
	return int(q.Value())
}

func cores(q resource.Quantity) float64 {
	if all, ok := clamp(&q, MostCPUs); ok {
		return float64(all)
	}
	return float64(q.MilliValue()) / 1000
}

func bytes(q resource.Quantity) int64 {
	if all, ok := clamp(&q, MostMemory); ok {
		return all
	}
	return q.Value()
}

// clamp returns 0 for a quantity up to 0, and most for one of at least most; otherwise false. It approximates: an
// exact comparison would write out all digits of 1e999999999.
func clamp(q *resource.Quantity, most int64) (int64, bool) {
	switch f := q.AsApproximateFloat64(); {
	case !(f > 0):
		return 0, true
	case f >= float64(most):
		return most, true
	}
	return 0, false
}
