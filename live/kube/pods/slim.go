package pods

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Slim removes from a pod what the scheduler does not use, so that a cache of all pods of a cluster is
// small. Pods with the mark of a job keep their containers: these may be written back, as a list.
func Slim(p *corev1.Pod) {
	p.ManagedFields = nil
	maps.DeleteFunc(p.Annotations, func(k, _ string) bool { return !used(k) })
	s := &p.Spec
	if p.Labels[v1alpha1.JobUID] == "" {
		s.Containers, s.InitContainers = slimmed(s.Containers), slimmed(s.InitContainers)
		s.Tolerations = nil
	}
	s.Volumes, s.EphemeralContainers, s.SecurityContext, s.HostAliases, s.DNSConfig, s.TopologySpreadConstraints = nil, nil, nil, nil, nil, nil
	p.Status = corev1.PodStatus{Phase: p.Status.Phase, Conditions: p.Status.Conditions, NominatedNodeName: p.Status.NominatedNodeName}
}

// used reports whether an annotation of a pod is read or written.
func used(annotation string) bool {
	domain, _, _ := strings.Cut(annotation, "/")
	return domain == "oxgang.dev" || domain == "batch.kubernetes.io" || domain == "karpenter.sh"
}

// slimmed returns what containers ask for.
func slimmed(all []corev1.Container) []corev1.Container {
	if len(all) == 0 {
		return nil
	}
	slim := make([]corev1.Container, len(all))
	for i := range all {
		slim[i] = corev1.Container{Name: all[i].Name, Resources: all[i].Resources, RestartPolicy: all[i].RestartPolicy}
	}
	return slim
}

// SlimNode removes from a node what the scheduler does not use: mostly its list of images.
func SlimNode(n *corev1.Node) {
	n.ManagedFields, n.Annotations = nil, nil
	n.Status = corev1.NodeStatus{Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable, Conditions: n.Status.Conditions}
}
