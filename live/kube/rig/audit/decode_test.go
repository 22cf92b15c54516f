package audit

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/wire"
)

// Checks see the jobs of a plan that are packed, as those that are not.
func TestDecode_unpacks_plans(t *testing.T) {
	rest, err := wire.PackList([]v1alpha1.JobAllocation{{Name: "b", UID: "b", GPUs: 2}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(&v1alpha1.Plan{
		TypeMeta: v1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Plan"}, ObjectMeta: v1.ObjectMeta{Name: "train"},
		Spec: v1alpha1.PlanSpec{Allocations: []v1alpha1.JobAllocation{{Name: "a", UID: "a", GPUs: 1}}, Packed: rest},
	})
	if err != nil {
		t.Fatal(err)
	}
	o, err := Decode(Key{plans, "", "train"}, text)
	if err != nil {
		t.Fatal(err)
	}
	if p := o.Value.(*v1alpha1.Plan); len(p.Spec.Allocations) != 2 || p.Spec.Allocations[1].GPUs != 2 {
		t.Errorf("allocations %+v, want those of a and b", p.Spec.Allocations)
	}
}
