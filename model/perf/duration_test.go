package perf_test

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// TestByDuration: a job of 4 GPUs makes a second a second on 4, and in proportion elsewhere.
func TestByDuration(t *testing.T) {
	m := perf.ByDuration{Spec: &job.Spec{GPUs: 4, Equivalents: map[cluster.GPUType]int{"t4": 2}, MixedSpeed: 0.5}}
	on := func(t cluster.GPUType, gpus int) cluster.Allocation {
		return cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: t}}
	}
	mixed := on("a", 2)
	mixed.Also = cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "t4"}
	for _, test := range []struct {
		a    cluster.Allocation
		want float64
	}{{on("a", 4), 1}, {on("a", 6), 1.5}, {on("a", 1), 0.25}, {on("t4", 4), 0.5}, {mixed, 0.5}} {
		if got := perf.Goodput(m, test.a, 1, job.BatchSize{Local: 64}); got != test.want {
			t.Errorf("%v: %v a second, want %v", test.a, got, test.want)
		}
	}
}
