package inventory

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a node with labels zone=a and gpus=8 is allowed to be for a pod.
func TestAllows(t *testing.T) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"zone": "a", "gpus": "8"}}}
	one := func(key string, op corev1.NodeSelectorOperator, values ...string) []corev1.NodeSelectorRequirement {
		return []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}
	}
	label := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: one(key, op, values...)}
	}
	name := func(op corev1.NodeSelectorOperator, value string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: one("metadata.name", op, value)}
	}
	for _, c := range []struct {
		name     string
		selector map[string]string
		terms    []corev1.NodeSelectorTerm // nil: no affinity
		want     bool
	}{
		{"anything", nil, nil, true},
		{"its label", map[string]string{"zone": "a"}, nil, true},
		{"another", map[string]string{"zone": "b"}, nil, false},
		{"no terms", nil, []corev1.NodeSelectorTerm{}, false},
		{"an empty term", nil, []corev1.NodeSelectorTerm{{}}, false},
		{"in", nil, []corev1.NodeSelectorTerm{label("zone", corev1.NodeSelectorOpIn, "b", "a")}, true},
		{"not in", nil, []corev1.NodeSelectorTerm{label("zone", corev1.NodeSelectorOpNotIn, "a")}, false},
		{"there", nil, []corev1.NodeSelectorTerm{label("zone", corev1.NodeSelectorOpExists)}, true},
		{"not there", nil, []corev1.NodeSelectorTerm{label("zone", corev1.NodeSelectorOpDoesNotExist)}, false},
		{"more", nil, []corev1.NodeSelectorTerm{label("gpus", corev1.NodeSelectorOpGt, "7")}, true},
		{"less", nil, []corev1.NodeSelectorTerm{label("gpus", corev1.NodeSelectorOpLt, "8")}, false},
		{"nonsense", nil, []corev1.NodeSelectorTerm{label("gpus", "Between", "7")}, false},
		{"by name", nil, []corev1.NodeSelectorTerm{name(corev1.NodeSelectorOpIn, "n")}, true},
		{"by another", nil, []corev1.NodeSelectorTerm{name(corev1.NodeSelectorOpIn, "m")}, false},
		{"not by name", nil, []corev1.NodeSelectorTerm{name(corev1.NodeSelectorOpNotIn, "n")}, false},
		{"one of two", nil, []corev1.NodeSelectorTerm{name(corev1.NodeSelectorOpIn, "m"), label("zone", corev1.NodeSelectorOpExists)}, true},
		{"selector and term", map[string]string{"zone": "b"}, []corev1.NodeSelectorTerm{label("zone", corev1.NodeSelectorOpExists)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &corev1.PodSpec{NodeSelector: c.selector}
			if c.terms != nil {
				p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}}
			}
			if got := Allows(p, n); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
