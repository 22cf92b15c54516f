package manager

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

func slim(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.Pod:
		inventory.Slim(o)
		return o, nil
	case *corev1.Node:
		inventory.SlimNode(o)
		return o, nil
	case *unstructured.Unstructured:
		if o.GetKind() == "Job" {
			return o, jobstate.PackObject(o)
		}
	}
	return cache.TransformStripManagedFields()(o)
}

// Pods that only use CPUs and memory wake no backend.
func wakes(all ...any) bool {
	for _, o := range all {
		p, is := o.(*corev1.Pod)
		if !is || inventory.Matter(p) {
			return true
		}
	}
	return false
}
