package inventory

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Index is the name of the cache index of pods.
const Index = "oxgang.dev/matters"

// Matters is the index key of all pods that may belong to a job or request devices.
const Matters = "matters"

// OnNode returns the index key of the pods bound to a node.
func OnNode(name string) string { return "node/" + name }

// Keys returns the index keys of a pod.
func Keys(o client.Object) []string {
	p, is := o.(*corev1.Pod)
	if !is {
		return nil
	}
	var keys []string
	if Matter(p) {
		keys = append(keys, Matters)
	}
	if p.Spec.NodeName != "" {
		keys = append(keys, OnNode(p.Spec.NodeName))
	}
	return keys
}

// Matter reports whether a pod may belong to a job or requests devices.
func Matter(p *corev1.Pod) bool {
	if p.Labels[v1alpha1.JobUID] != "" || p.Labels[v1alpha1.QueueLabel] != "" {
		return true
	}
	if by := metav1.GetControllerOfNoCopy(p); by != nil && (by.Kind == "Job" || by.Kind == "RayCluster") {
		return true
	}
	return slices.ContainsFunc(p.Spec.InitContainers, devices) || slices.ContainsFunc(p.Spec.Containers, devices)
}

func devices(c corev1.Container) bool {
	for name := range c.Resources.Limits {
		if strings.Contains(string(name), "/") {
			return true
		}
	}
	for name := range c.Resources.Requests {
		if strings.Contains(string(name), "/") {
			return true
		}
	}
	return false
}
