package workload_test

import (
	"math"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Lyra §7.2: of a job of two GPUs each of two more adds 80 % of what those do; three GPUs of an
// inference server do the work of one.
func TestSteady(t *testing.T) {
	a := workload.Arrival{Spec: job.Spec{GPUs: 2, Equivalents: map[cluster.GPUType]int{"t4": 3}}, ScalingLoss: 0.2}
	for _, test := range []struct {
		t       cluster.GPUType
		gpus, n int
		want    float64
	}{
		{"v100", 2, 1, 1},
		{"v100", 1, 1, 0.5},
		{"v100", 4, 1, 1.8},
		{"v100", 4, 2, 1.8},
		{"t4", 6, 1, 1},
		{"t4", 3, 1, 0.5},
		{"t4", 12, 2, 1.8},
	} {
		at := cluster.Configuration{Nodes: test.n, GPUs: test.gpus, GPUType: test.t}
		if got := a.Steady().Throughput(at, job.BatchSize{Local: 1}); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v: %g samples a second, want %g", at, got, test.want)
		}
	}
	both := cluster.Allocation{
		Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "v100"},
		Also:          cluster.Configuration{Nodes: 1, GPUs: 6, GPUType: "t4"},
	}
	a.Spec.MixedSpeed = 0.7
	if got, want := a.Steady().Mixed(&both), 8/(1.8*0.7); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v: %g s a sample and GPU, want %g", both, got, want)
	}
	if got := workload.Steady(2).Throughput(cluster.Configuration{Nodes: 1, GPUs: 8, GPUType: "t4"}, job.BatchSize{Local: 1}); got != 4 {
		t.Errorf("%g samples a second, want 4: linear", got)
	}
}
