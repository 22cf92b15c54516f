package workload_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Steadies have what Steady of the same arrival has, whatever came before, and one application for arrivals that are alike.
func TestSteadies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s workload.Steadies
		for range rapid.IntRange(1, 20).Draw(t, "arrivals") {
			a := &workload.Arrival{ScalingLoss: rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "loss")}
			a.Spec.GPUs = rapid.IntRange(0, 4).Draw(t, "GPUs")
			if rapid.Bool().Draw(t, "other types count less") {
				a.Spec.Equivalents = map[cluster.GPUType]int{"t4": 3}
			}
			a.Spec.Adaptivity = rapid.SampledFrom([]job.Adaptivity{job.Rigid, job.StrongScaling, job.Heterogeneous}).Draw(t, "adaptivity")
			got, want := s.Of(&a.Spec, a.ScalingLoss), a.Steady()
			for n := 1; n <= 8; n++ {
				for _, gpu := range []cluster.GPUType{"t4", "a100"} {
					c := cluster.Configuration{Nodes: 1, GPUs: n, GPUType: gpu}
					if one, two := got.Throughput(c, job.BatchSize{Local: 1}), want.Throughput(c, job.BatchSize{Local: 1}); one != two {
						t.Fatalf("%+v on %v: throughput %v, want %v", a.Spec, c, one, two)
					}
				}
			}
			two := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"}, Also: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}}
			if a.Spec.Adaptivity.Has(job.Heterogeneous) && got.Mixed(&two) != want.Mixed(&two) {
				t.Fatalf("%+v on two types: %v seconds, want %v", a.Spec, got.Mixed(&two), want.Mixed(&two))
			}
			if plain := a.Spec.Equivalents == nil && !a.Spec.Adaptivity.Has(job.Heterogeneous); plain && s.Of(&a.Spec, a.ScalingLoss) != got {
				t.Fatal("two applications of arrivals that are alike")
			}
		}
	})
}
