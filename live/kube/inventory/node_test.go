package inventory

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPinned(t *testing.T) {
	field := func(op corev1.NodeSelectorOperator, node string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: op, Values: []string{node}}
	}
	in := func(node string) corev1.NodeSelectorRequirement { return field(corev1.NodeSelectorOpIn, node) }
	not := func(node string) corev1.NodeSelectorRequirement { return field(corev1.NodeSelectorOpNotIn, node) }
	term := func(all ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: all}
	}
	zone := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpExists}}}
	for _, c := range []struct {
		name  string
		terms []corev1.NodeSelectorTerm
		want  string
	}{
		{"nothing is required", nil, ""},
		{"one term names it", []corev1.NodeSelectorTerm{term(in("a"))}, "a"},
		{"all terms do", []corev1.NodeSelectorTerm{term(not("b"), in("a")), term(in("a"))}, "a"},
		{"a term that names another is met by no node", []corev1.NodeSelectorTerm{term(in("b"), in("a")), term(in("a"))}, "a"},
		{"a term that rules its own out is met by none", []corev1.NodeSelectorTerm{term(in("b"), not("b")), term(in("a"))}, "a"},
		{"an empty term is met by none", []corev1.NodeSelectorTerm{{}, term(in("a"))}, "a"},
		{"terms name two", []corev1.NodeSelectorTerm{term(in("a")), term(in("b"))}, ""},
		{"a term names none", []corev1.NodeSelectorTerm{term(in("a")), zone}, ""},
		{"one is ruled out", []corev1.NodeSelectorTerm{term(not("a"))}, ""},
	} {
		p := &corev1.Pod{}
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}}
		if got := Node(p); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		p.Spec.NodeName = "x"
		if got := Node(p); got != "x" {
			t.Errorf("%s, and it is bound: got %q, want x", c.name, got)
		}
	}
	if got := Node(&corev1.Pod{}); got != "" {
		t.Errorf("no affinity: got %q, want none", got)
	}
}
