package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
)

// A Workload is marked while Kueue writes what it says over the job, and may be changed.
func TestMarked(t *testing.T) {
	for _, c := range []struct{ evicted, quota, want bool }{{true, false, true}, {true, true, false}, {false, false, false}, {false, true, false}} {
		given := options(v1alpha1.Resize)
		w := assemble(nil, nil, &given)
		pod := map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "c", "resources": map[string]any{"limits": map[string]any{w.o.Nodes.GPUResource: "1"}}},
		}}}
		o := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{"podSets": []any{map[string]any{"template": pod}}},
			"status": map[string]any{"conditions": []any{
				map[string]any{"type": "Evicted", "status": truth(c.evicted)}, map[string]any{"type": "QuotaReserved", "status": truth(c.quota)},
			}},
		}}
		if got := w.writer.Marked(o, &unstructured.Unstructured{Object: map[string]any{}}, &jobadapter.Grant{Generation: 2}); got != c.want {
			t.Errorf("evicted %v, with quota %v: marked %v, want %v", c.evicted, c.quota, got, c.want)
		}
	}
}

func truth(is bool) string {
	if is {
		return "True"
	}
	return "False"
}
