package jobadapter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// What Kueue writes over the template of a job that was started, from a Workload that was marked,
// is what is there.
func TestMarkWorkload(t *testing.T) {
	o := object(t, "job.yaml", func(o map[string]any) {
		labels := child(o, "metadata", "labels")
		labels[kueueQueue] = "all"
		child(o, "spec", "template", "spec")["tolerations"] = []any{map[string]any{"key": "mine", "operator": "Exists"}}
	})
	of := runtime.DeepCopyJSON(child(o.Object, "spec", "template"))
	launcher := map[string]any{"metadata": map[string]any{}, "spec": map[string]any{"containers": []any{map[string]any{"name": "launcher"}}}}
	w := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"podSets": []any{
		map[string]any{"name": "main", "template": of}, map[string]any{"name": "launcher", "template": runtime.DeepCopyJSON(launcher)},
	}}}}
	g := &Grant{Generation: 2, Workers: 4, Stays: true, Tolerations: []corev1.Toleration{{Key: v1alpha1.LoanTaint, Operator: corev1.TolerationOpExists}}, Flavor: map[string]string{"type": "a100"}}
	if err := kindOf(t, o).Start(o, g); err != nil {
		t.Fatal(err)
	}
	for i, changes := range []bool{true, false} {
		if MarkWorkload(w, o, g, "nvidia.com/gpu") != changes {
			t.Errorf("mark %d: want that it changes something: %v", i, changes)
		}
	}
	sets := child(w.Object, "spec")["podSets"].([]any)
	got, want := child(sets[0].(map[string]any), "template"), child(o.Object, "spec", "template")
	for _, what := range [][2]string{{"metadata", "labels"}, {"metadata", "annotations"}, {"spec", "tolerations"}, {"spec", "nodeSelector"}} {
		if diff := cmp.Diff(child(want, what[0])[what[1]], child(got, what[0])[what[1]]); diff != "" {
			t.Errorf("%s: %s", what[1], diff)
		}
	}
	if diff := cmp.Diff(launcher, child(sets[1].(map[string]any), "template")); diff != "" {
		t.Errorf("pods without GPUs: %s", diff)
	}
}
