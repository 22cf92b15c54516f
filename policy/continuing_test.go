package policy_test

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// GPUs of continuing jobs are in use: of the type in Check, of the node in CheckPlacement.
func TestContinuing_uses_GPUs(t *testing.T) {
	c, err := cluster.New([]cluster.Node{{ID: "a", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}, {ID: "b", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	four := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "t4"}}
	on := func(n cluster.NodeID) cluster.Placement {
		return cluster.Placement{{Node: n, Resources: cluster.Resources{GPUs: 4}}}
	}
	continues := &policy.Continuing{ByNode: make([]int, 2), ByType: make([]int, 1)}
	row := &policy.Job{Spec: &job.Spec{ID: "runs"}, Status: job.Status{Allocation: four, Placement: on("a")}}
	continues.Add(c, row, 1)
	s := &policy.Snapshot{Cluster: c, Continuing: continues, Jobs: []*policy.Job{
		{Spec: &job.Spec{ID: "new", GPUs: 4}, Status: job.Status{Phase: job.Waiting}}, {Spec: &job.Spec{ID: "next", GPUs: 4}, Status: job.Status{Phase: job.Waiting}},
	}}
	plan := func(grants ...cluster.NodeID) *policy.Plan {
		p := &policy.Plan{Jobs: make([]policy.Decision, 2)}
		for i, n := range grants {
			p.Jobs[i] = policy.Decision{Allocation: four, Placement: on(n)}
		}
		return p
	}
	if err := policy.Check(s, plan("b")); err != nil {
		t.Errorf("on what is left: %v", err)
	}
	if err := policy.CheckPlacement(s, plan("a")); err == nil || !strings.Contains(err.Error(), "8 GPUs in use") {
		t.Errorf("where a job continues: %v, want that 8 GPUs are in use", err)
	}
	none := plan()
	none.Jobs[0].Allocation, none.Jobs[1].Allocation = four, four
	if err := policy.Check(s, none); err == nil || !strings.Contains(err.Error(), "allocated 12 GPUs") {
		t.Errorf("all GPUs beside a job that continues: %v, want that 12 are allocated", err)
	}
	if continues.Add(c, row, -1); continues.Jobs != 0 || continues.Of(0) != 0 || continues.On(0) != 0 {
		t.Errorf("after it has gone, %+v continues", continues)
	}
}
