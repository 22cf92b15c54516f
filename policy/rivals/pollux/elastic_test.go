package pollux_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// On a cluster that has lost or gained nodes, jobs that cannot be faster elsewhere stay
// where they are. All have 4 GPUs, the most they may, on nodes of 4.
func TestJobsStayWhenNodesComeAndGo(t *testing.T) {
	all, none := clusterOf(t, shape{"v100", 6, 4}), clusterOf(t)
	first := func(n int) *cluster.Cluster {
		return all.Without(func(id cluster.NodeID) bool { i, _ := all.Index(id); return i >= n })
	}
	s := snapshot(first(4))
	for i := range 4 {
		s.Jobs = append(s.Jobs, waiting(job.ID(fmt.Sprint(i)), linear(), func(j *policy.Job) { j.Spec.MaxGPUs, j.RestartOverhead = 4, 30*time.Second }))
	}
	p := fresh(t, nil)
	s = next(s, mustPlan(t, p, s))
	for _, n := range []int{5, 6, 4, 4} {
		s.Cluster = first(n)
		plan := mustPlan(t, p, s)
		for i := range plan.Jobs {
			if !plan.Jobs[i].Placement.SameGPUs(s.Jobs[i].Placement) || plan.Jobs[i].Allocation.GPUs != 4 {
				t.Errorf("on %d nodes job %d moves from %v to %v", n, i, s.Jobs[i].Placement, plan.Jobs[i].Placement)
			}
		}
		s = next(s, plan)
	}
	for _, j := range s.Jobs {
		j.Phase, j.Allocation, j.Placement = job.Waiting, cluster.Allocation{}, nil
	}
	s.Cluster = none
	if got := gpus(mustPlan(t, p, s)); fmt.Sprint(got) != "[0 0 0 0]" {
		t.Errorf("%v GPUs of a cluster without nodes", got)
	}
	s.Cluster = first(2)
	if got := gpus(mustPlan(t, p, s)); got[0]+got[1]+got[2]+got[3] != 8 {
		t.Errorf("%v GPUs once there are nodes again, want all 8", got)
	}
}
