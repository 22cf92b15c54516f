package job

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
)

func TestForms(t *testing.T) {
	four, two := &Spec{ID: "four", Adaptivity: Rigid, GPUs: 4}, &Spec{ID: "two", Adaptivity: Rigid, GPUs: 2}
	scaling := &Spec{ID: "scaling", Adaptivity: StrongScaling, GPUs: 1, MaxGPUs: 2}
	var none Forms
	rigid := none.With(four).With(two).With(&Spec{ID: "four, too", Adaptivity: Rigid, GPUs: 4})
	all := rigid.With(scaling).With(&Spec{ID: "scaling, too", Adaptivity: StrongScaling, GPUs: 8})
	for name, c := range map[string]struct {
		f    Forms
		want [5]*Spec // on 0 to 4 GPUs
	}{"none": {}, "rigid": {rigid, [5]*Spec{2: two, 4: four}}, "all": {all, [5]*Spec{1: scaling, 2: scaling, 4: four}}} {
		for gpus, want := range c.want {
			if got := c.f.For(cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "t4"}); got != want {
				t.Errorf("%s: %d GPUs: got %v, want %v", name, gpus, got, want)
			}
		}
	}
}

func TestSpec_allows(t *testing.T) {
	on := func(gpus int, t cluster.GPUType) cluster.Configuration {
		return cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: t}
	}
	s := Spec{Adaptivity: Adaptive, MinGPUs: 3, MaxGPUs: 6, GPUsPerReplica: map[cluster.GPUType]int{"a100": 2}}
	for gpus, want := range []bool{4: true, 6: true, 8: false} {
		if got := s.Allows(on(gpus, "a100")); got != want {
			t.Errorf("%d GPUs: got %v, want %v", gpus, got, want)
		}
	}
	if s.Allows(on(4, "t4")) {
		t.Error("a type without replicas: got true")
	}
	rigid := Spec{GPUs: 2, MinGPUs: 4, MaxGPUs: 1} // as policy.Check has it
	if !rigid.Allows(on(2, "t4")) || rigid.Allows(on(4, "t4")) || rigid.Allows(on(0, "t4")) {
		t.Error("of fixed GPU count: want what it asks for, and nothing else")
	}
	workers := Spec{Adaptivity: Adaptive, WorkerGPUs: 4}
	for c, want := range map[cluster.Configuration]bool{
		{Nodes: 1, GPUs: 4}: true, {Nodes: 1, GPUs: 6}: false, {Nodes: 2, GPUs: 8}: true, {Nodes: 2, GPUs: 12}: true, {Nodes: 4, GPUs: 12}: false, {Nodes: 3, GPUs: 12}: true,
	} {
		if got := workers.Allows(c); got != want {
			t.Errorf("%v in workers of 4 GPUs: got %v, want %v", c, got, want)
		}
	}
	s.MaxGPUs = 0
	if !s.Allows(on(8, "a100")) || s.Allows(on(9, "a100")) {
		t.Error("without limit: want any whole replicas")
	}
}
