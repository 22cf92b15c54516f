package cluster

import "testing"

func TestMixedAllocation(t *testing.T) {
	one := Allocation{Configuration: Configuration{Nodes: 1, GPUs: 8, GPUType: "v100"}, CPUs: 3}
	two := one
	two.Also, two.CPUs = Configuration{Nodes: 2, GPUs: 6, GPUType: "t4"}, 0
	if one.AllGPUs() != 8 || two.AllGPUs() != 14 {
		t.Errorf("GPUs: got %d and %d, want 8 and 14", one.AllGPUs(), two.AllGPUs())
	}
	if one.Mixed() || !two.Mixed() || one.Has("t4") || !two.Has("t4") || !two.Has("v100") || one.Has("") {
		t.Errorf("got %v and %v, want the second alone of two types, t4 among them", one, two)
	}
	if one.String() != "(1, 8, v100)" || two.String() != "(1, 8, v100) + (2, 6, t4)" {
		t.Errorf("got %v and %v", one, two)
	}
	if other := (Allocation{Configuration: one.Configuration}); !other.SameGPUs(&one) || other.SameGPUs(&two) {
		t.Errorf("%v: want the same GPUs as those of %v, not of %v", other, one, two)
	}
}

func TestOn(t *testing.T) {
	c, err := New([]Node{host("a", 8, 0, 0), host("c", 8, 0, 0), {ID: "b", GPUType: "t4", Capacity: Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	share := func(id NodeID, gpus int) Share { return Share{Node: id, Resources: Resources{GPUs: gpus}} }
	p := Placement{share("a", 2), share("b", 3), share("c", 4), share("gone", 5)}
	for typ, want := range map[GPUType]Placement{"v100": {share("a", 2), share("c", 4)}, "t4": {share("b", 3)}, "k80": nil} {
		if got := c.On(p, typ); !got.Equal(want) {
			t.Errorf("on %s: got %v, want %v", typ, got, want)
		}
	}
}
