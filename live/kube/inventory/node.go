package inventory

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Node returns the node that a pod is bound or pinned to, or "" if several nodes are possible.
func Node(p *corev1.Pod) string {
	if p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	return Pinned(&p.Spec)
}

// Pinned returns the only node that a pod's required affinity allows, or "" if it allows several.
func Pinned(spec *corev1.PodSpec) string {
	only := ""
	for _, t := range Terms(spec) {
		node, possible := named(&t)
		switch {
		case !possible:
		case node == "" || only != "" && only != node:
			return ""
		default:
			only = node
		}
	}
	return only
}

// Terms returns the terms of a pod's required node affinity; the caller must not modify them.
func Terms(spec *corev1.PodSpec) []corev1.NodeSelectorTerm {
	a := spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

func named(t *corev1.NodeSelectorTerm) (node string, possible bool) {
	for i := range t.MatchFields {
		if f := &t.MatchFields[i]; f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
			node = f.Values[0]
		}
	}
	if node == "" {
		return "", len(t.MatchExpressions)+len(t.MatchFields) > 0
	}
	return node, !slices.ContainsFunc(t.MatchFields, func(r corev1.NodeSelectorRequirement) bool { return !Meets(&r, node) })
}

// Meets reports whether a node satisfies requirement r on node fields, such as the name.
func Meets(r *corev1.NodeSelectorRequirement, node string) bool {
	return r.Key != metav1.ObjectNameField || slices.Contains(r.Values, node) == (r.Operator == corev1.NodeSelectorOpIn)
}
