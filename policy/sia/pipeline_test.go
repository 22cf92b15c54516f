package sia

import (
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// truth is an application whose speed is known.
type truth struct{ *workload.Application }

func (m truth) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	return m.Application.Throughput(a.Configuration, b)
}
func (truth) Efficiency(float64) float64 { return 1 }

func (truth) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }

// Sia §3.3.4: hybrid-parallel jobs "scale as units of P GPUs each". §3.5.3: "We
// use 2 and 8 stages (1 per GPU) for a100 and rtx GPUs".
func TestPlan_scales_pipelines_in_units_of_P(t *testing.T) {
	a := workload.Arrival{Application: "gpt_pmp", Spec: job.Spec{ID: "gpt", Adaptivity: job.Adaptive}}
	catalog := profiles.Default()
	if err := catalog.Complete(&a); err != nil {
		t.Fatal(err)
	}
	gpt := truth{catalog["gpt_pmp"]}
	for _, test := range []struct {
		c    *cluster.Cluster
		want []cluster.Configuration
	}{
		{clusterOf(t, shape{"rtx", 4, 8}), []cluster.Configuration{on(1, 8, "rtx"), on(2, 16, "rtx"), on(4, 32, "rtx"), on(4, 32, "rtx")}},
		{clusterOf(t, shape{"a100", 2, 8}), []cluster.Configuration{on(1, 2, "a100"), on(1, 4, "a100"), on(1, 8, "a100"), on(2, 16, "a100")}},
		{clusterOf(t, shape{"rtx", 1, 4}, shape{"t4", 4, 8}), []cluster.Configuration{{}}}, // no room, and not on t4
	} {
		p, j := newPolicy(t, DefaultOptions()), waiting("gpt", gpt, func(s *job.Spec) { *s = a.Spec })
		for _, want := range test.want {
			got := grants(t, p, snapshot(test.c, j))[0]
			if got != want {
				t.Fatalf("after %v: %v, want %v", j.Allocation.Configuration, got, want)
			}
			j = holding(j, got)
		}
	}
	s := snapshot(clusterOf(t, shape{"rtx", 3, 8}, shape{"a100", 2, 8}), holding(waiting("gpt", gpt, func(s *job.Spec) { *s = a.Spec }), on(2, 16, "rtx")))
	for c := range values(t, newPolicy(t, DefaultOptions()), s, 0) {
		if c.GPUs%a.Spec.ReplicaGPUs(c.GPUType) != 0 {
			t.Errorf("%v is a choice, want multiples of %d", c, a.Spec.ReplicaGPUs(c.GPUType))
		}
	}
}
