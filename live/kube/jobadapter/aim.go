package jobadapter

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

func (s *shape) aimed(o *unstructured.Unstructured) string {
	if !s.affine || s.pod.Labels[v1alpha1.JobUID] != string(o.GetUID()) || holds(s.pod.Spec.SchedulingGates) {
		return ""
	}
	return inventory.Pinned(&s.pod.Spec)
}

func holds(all []corev1.PodSchedulingGate) bool {
	return slices.ContainsFunc(all, func(g corev1.PodSchedulingGate) bool { return g.Name == v1alpha1.PlacementGate })
}

// aim makes new pods run on a node instead of the previous one. The pods are gated if node is empty or excluded, or if
// the user's template names nodes, which a later Start could not separate from ours.
func (t template) aim(before, node string) error {
	p, err := t.spec()
	if err != nil {
		return err
	}
	own := without(inventory.Terms(&p.Spec), before)
	all, possible := narrowed(own, node)
	names := func(t corev1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 }
	if node != "" && possible && !slices.ContainsFunc(own, names) {
		t.ungate()
		return t.require(all)
	}
	t.gate()
	if before == "" {
		return nil
	}
	return t.require(own)
}

func without(terms []corev1.NodeSelectorTerm, node string) []corev1.NodeSelectorTerm {
	here := called(node)
	var all []corev1.NodeSelectorTerm
	for _, t := range terms {
		fields := slices.DeleteFunc(slices.Clone(t.MatchFields), func(r corev1.NodeSelectorRequirement) bool { return equalRequirement(&r, &here) })
		if len(fields) == 0 && len(t.MatchFields) > 0 && len(t.MatchExpressions) == 0 {
			continue
		}
		t.MatchFields = fields
		all = append(all, t)
	}
	return all
}

func called(node string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
}

func (t template) require(terms []corev1.NodeSelectorTerm) error {
	const required = "requiredDuringSchedulingIgnoredDuringExecution"
	if len(terms) > 0 {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&corev1.NodeSelector{NodeSelectorTerms: terms})
		grow(t, "spec", "affinity", "nodeAffinity")[required] = m
		return err
	}
	delete(child(t, "spec", "affinity", "nodeAffinity"), required)
	for _, empty := range []struct {
		of   map[string]any
		what string
	}{{child(t, "spec", "affinity"), "nodeAffinity"}, {child(t, "spec"), "affinity"}} {
		if len(child(empty.of, empty.what)) == 0 {
			delete(empty.of, empty.what)
		}
	}
	return nil
}

func (t template) gate() {
	spec := grow(t, "spec")
	all, _ := spec["schedulingGates"].([]any)
	if !slices.ContainsFunc(all, isPlacementGate) {
		spec["schedulingGates"] = append(slices.Clip(all), any(map[string]any{"name": v1alpha1.PlacementGate}))
	}
}

func (t template) ungate() {
	spec := grow(t, "spec")
	all, _ := spec["schedulingGates"].([]any)
	all = slices.DeleteFunc(slices.Clone(all), isPlacementGate)
	if len(all) == 0 {
		delete(spec, "schedulingGates")
		return
	}
	spec["schedulingGates"] = all
}

func isPlacementGate(g any) bool {
	m, _ := g.(map[string]any)
	return m["name"] == v1alpha1.PlacementGate
}
