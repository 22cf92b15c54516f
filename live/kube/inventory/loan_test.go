package inventory

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestLoan(t *testing.T) {
	n := node("n", taint("x", "", corev1.TaintEffectNoSchedule))
	before := n.DeepCopy()
	if err := Lend(n, "training"); err != nil {
		t.Fatal(err)
	}
	lent := n.DeepCopy()
	if err := Lend(n, "training"); err != nil || !cmp.Equal(lent, n) {
		t.Errorf("lent twice: %v, %s", err, cmp.Diff(lent, n))
	}
	pinned := pod("ours", "", 1, "1", "1Gi", corev1.PodPending)
	pinned.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n"}},
		}}},
	}}}
	for want, do := range map[string]func() error{
		"node n: lend: no queue, want the name of one":                            func() error { return Lend(n, "") },
		"node n: lend to another: it is lent to training, want it returned first": func() error { return Lend(n, "another") },
		`node n: return: it is lent to "training", want "another"`:                func() error { return Return(n, "another", nil, ours) },
		"node n: return: our pod x/ours is on it or pinned to it": func() error {
			return Return(n, "training", []*corev1.Pod{pod("ours", "n", 1, "1", "1Gi", corev1.PodRunning)}, ours)
		},
		"node n: return: our pod x/ours is on it or pinned to it (pinned)": func() error {
			err := Return(n, "training", []*corev1.Pod{pinned}, ours)
			if err == nil {
				return nil
			}
			return fmt.Errorf("%w (pinned)", err)
		},
	} {
		if err := do(); err == nil || err.Error() != want || !cmp.Equal(lent, n) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	rest := []*corev1.Pod{
		pod("ours", "n", 1, "1", "1Gi", corev1.PodSucceeded), pod("theirs", "n", 1, "1", "1Gi", corev1.PodRunning), pod("ours", "m", 1, "1", "1Gi", corev1.PodRunning),
	}
	if err := Return(n, "training", rest, ours); err != nil || !cmp.Equal(before, n) {
		t.Errorf("returned: %v, %s", err, cmp.Diff(before, n))
	}
	if !maps.Equal(before.Labels, n.Labels) {
		t.Error("labels changed")
	}
}
