package inventory

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Slim removes the pod's fields that the scheduler does not use, to save memory. Pods of jobs keep their containers,
// which may be written back as a list.
func Slim(p *corev1.Pod) {
	p.ManagedFields = nil
	maps.DeleteFunc(p.Annotations, func(k, _ string) bool { return !usedAnnotation(k) })
	s := &p.Spec
	if p.Labels[v1alpha1.JobUID] == "" {
		s.Containers, s.InitContainers = slimmed(s.Containers), slimmed(s.InitContainers)
		s.Tolerations = nil
	}
	s.Volumes, s.EphemeralContainers, s.SecurityContext, s.HostAliases, s.DNSConfig, s.TopologySpreadConstraints = nil, nil, nil, nil, nil, nil
	p.Status = corev1.PodStatus{Phase: p.Status.Phase, Conditions: p.Status.Conditions, NominatedNodeName: p.Status.NominatedNodeName}
}

func usedAnnotation(annotation string) bool {
	domain, _, _ := strings.Cut(annotation, "/")
	return domain == "oxgang.dev" || domain == "batch.kubernetes.io" || domain == "karpenter.sh"
}

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

// SlimNode removes the node's fields that the scheduler does not use.
func SlimNode(n *corev1.Node) {
	n.ManagedFields, n.Annotations = nil, nil
	n.Status = corev1.NodeStatus{Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable, Conditions: n.Status.Conditions}
}
