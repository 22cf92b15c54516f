package synergy_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/synergy"
)

// cut are three jobs, each of one worker of 2 GPUs that could use half as many CPUs again as
// its share, and two nodes of 3 GPUs: two jobs have a node's CPUs each, and no node is left for
// the third, though there are GPUs for it.
func cut(t *testing.T) *policy.Snapshot {
	t.Helper()
	has := cluster.Resources{GPUs: 3, CPUs: 9, Memory: 180e9}
	c, err := cluster.New([]cluster.Node{{ID: "a", GPUType: "v100", Capacity: has}, {ID: "b", GPUType: "v100", Capacity: has}})
	if err != nil {
		t.Fatal(err)
	}
	m := &fed{rate: 100, input: &perf.Sensitivity{CPUs: []perf.CPURate{{CPUs: 3, Rate: 30}, {CPUs: 4.5, Rate: 45}}}}
	s := &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: c}
	for _, id := range []job.ID{"one", "three", "two"} {
		s.Jobs = append(s.Jobs, &policy.Job{
			Spec:   &job.Spec{ID: id, GPUs: 2, WorkerGPUs: 2, Target: 1e5, Batch: job.BatchLimits{Init: 1, Max: 1}},
			Status: job.Status{Phase: job.Waiting, Submitted: epoch, Since: epoch},
			Perf:   m, Sensitivity: m.input,
		})
	}
	return s
}

// What jobs on nodes have beyond their shares is not granted to those that found none as well.
func TestYield(t *testing.T) {
	for name, change := range map[string]func(*synergy.Options){
		"opt":          func(o *synergy.Options) { o.Mechanism = synergy.Opt },
		"tune, demand": func(o *synergy.Options) { o.Cells = synergy.DemandOnly },
	} {
		if name == "opt" && !exact.Available {
			continue
		}
		s := cut(t)
		plan, err := fresh(t, change).Plan(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		policy.FillProportional(s, plan)
		if err := policy.Check(s, plan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		placed := 0
		for i := range plan.Jobs {
			if a := plan.Jobs[i].Allocation; a.GPUs != 2 || a.CPUs < 6 {
				t.Errorf("%s: job %d got %+v, want 2 GPUs with their share of CPUs or more", name, i, a)
			}
			if plan.Jobs[i].Placement != nil {
				placed++
			}
		}
		if placed != 2 {
			t.Errorf("%s: %d jobs are placed, want 2", name, placed)
		}
	}
}
