package boa

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// anywhere returns a class that is fastest on a100, four times as fast as on t4.
func anywhere(class job.Class) *perf.ClassStats {
	return &perf.ClassStats{Class: class, Rate: 1e-5, Sizes: []float64{86400}, Speeds: perf.EpochSpeed(func(_ int, c cluster.Configuration) float64 {
		n := float64(c.GPUs)
		return map[cluster.GPUType]float64{"t4": 1, "a100": 4}[c.GPUType] * n / (1 + n/16)
	})}
}

// Nobody waits for the fastest type while another that they can use is not rented, or free,
// and no budget binds: on small clusters of rented and of owned nodes, known classes or not.
func TestNobodyWaitsBesideOtherTypes(t *testing.T) {
	for _, jobs := range []int{2, 5, 8} {
		for _, class := range []job.Class{"x", ""} {
			for _, budget := range []float64{0, 1000} {
				var all []*policy.Job
				for i := range jobs {
					all = append(all, running(job.ID(rune('a'+i)), class, ""))
				}
				fast, slow := rental("a100", 4, 0, 0), rental("t4", 4, 0, 0)
				fast.Most, slow.Most = 1, 2
				s := snapshot(t, 0, nil, []cluster.Rental{slow, fast}, []*perf.ClassStats{anywhere("x")}, all...)
				plan := ask(t, policyWith(t, func(o *Options) { o.Budget = budget }), s)
				for i := range plan.Jobs {
					if why := plan.Jobs[i].Why; why.Kind != policy.WaitNodes {
						t.Errorf("%d jobs of class %q, budget %v: job %d: %v, want it to wait for nodes alone", jobs, class, budget, i, why)
					}
				}
				if class == "x" && plan.Capacity["a100-4"] != 1 || jobs > 4 && plan.Capacity["t4-4"] == 0 {
					t.Errorf("%d jobs of class %q, budget %v: nodes %v, want the a100 and some t4", jobs, class, budget, plan.Capacity)
				}
			}
		}
	}
}

// A job of more GPUs than are left of the type it is fastest on runs on another one.
func TestRunsOnTheNextBest(t *testing.T) {
	nodes := []cluster.Node{host("n1", "a100", 4, ""), host("n2", "t4", 4, ""), host("n3", "t4", 4, "")}
	holds := running("holds", "x", "a100", share("n1", 4))
	holds.Spec.GPUs, holds.Spec.Adaptivity = 4, job.BatchSizes
	comes := running("comes", "x", "")
	comes.Spec.GPUs, comes.Spec.Adaptivity = 4, job.BatchSizes|job.AnyGPUType
	plan := ask(t, policyWith(t, unbounded), snapshot(t, time.Minute, nodes, nil, []*perf.ClassStats{anywhere("x")}, holds, comes))
	if d := plan.Jobs[1]; d.Allocation.GPUType != "t4" || d.Allocation.GPUs != 4 {
		t.Errorf("%v: %v, want 4 t4", d.Allocation, d.Why)
	}
}
