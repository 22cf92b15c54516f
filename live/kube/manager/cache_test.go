package manager

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// Of a Job watches keep metadata and a text; of a JobSet all fields, which are looked at more often.
func TestSlim_packs_jobs(t *testing.T) {
	for kind, packed := range map[string]bool{"Job": true, "JobSet": false} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "x/v1", "kind": kind, "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"suspend": true}}}
		small, err := slim(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, read, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); read == packed {
			t.Errorf("%s: the spec is maps: %v, want %v", kind, read, !packed)
		}
		whole, err := jobstate.ObjectOf(small.(*unstructured.Unstructured)).Unpack() //nolint:forcetypeassert // slim returns what it is given
		if err != nil {
			t.Fatal(err)
		}
		if suspended, _, _ := unstructured.NestedBool(whole.Object, "spec", "suspend"); !suspended {
			t.Errorf("%s: %v, want it whole", kind, whole.Object)
		}
	}
}
