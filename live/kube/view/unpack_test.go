package view

import (
	"testing"

	"github.com/oxgang/oxgang/live/kube/wire"
)

// Packed allocations of a plan are shown as others are.
func TestPlan_unpack(t *testing.T) {
	data, err := wire.PackList([]Allocation{{Name: "b"}, {Name: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	var p Plan
	p.Spec.Allocations, p.Spec.Packed = []Allocation{{Name: "a"}}, data
	if err := p.unpack(); err != nil || len(p.Spec.Allocations) != 3 || p.Spec.Allocations[2].Name != "c" || p.Spec.Packed != nil {
		t.Errorf("%+v, %v, want a, b and c", p.Spec.Allocations, err)
	}
	p.Spec.Packed = []byte("spoilt")
	if p.unpack() == nil {
		t.Error("want an error")
	}
}
