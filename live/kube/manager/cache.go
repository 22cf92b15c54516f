package manager

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/pods"
)

// slim removes from what watches bring all that is not used, before it is kept.
func slim(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.Pod:
		pods.Slim(o)
		return o, nil
	case *corev1.Node:
		pods.SlimNode(o)
		return o, nil
	case *unstructured.Unstructured:
		if o.GetKind() == "Job" { // of which there are thousands
			return o, jobstate.PackObject(o)
		}
	}
	return cache.TransformStripManagedFields()(o)
}

// wakes reports whether a change of an object is news for backends. That of a pod that only takes CPUs
// and memory of its node is none: each backend looks every second anyway.
func wakes(all ...any) bool {
	for _, o := range all {
		p, is := o.(*corev1.Pod)
		if !is || pods.Matter(p) {
			return true
		}
	}
	return false
}
