package shockwave_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
)

// A job that waits finds its GPUs where other types have come, as many as have gone: what
// it may have goes by the places of types.
func TestPlan_when_other_types_come(t *testing.T) {
	s := &job.Spec{ID: "j", GPUs: 4, Weight: 1, Target: 1e6, GPUTypes: []cluster.GPUType{"rtx"}}
	j := &policy.Job{Spec: s, Status: job.Status{Phase: job.Waiting}, Perf: &policytest.Speedup{}, Limits: &s.Batch}
	p := fresh(t, nil)
	for round, types := range [][]cluster.GPUType{{"t4", "rtx"}, {"rtx", "a100"}} {
		var nodes []cluster.Node
		for _, kind := range types {
			nodes = append(nodes, cluster.Node{ID: cluster.NodeID(kind), GPUType: kind, Capacity: cluster.Resources{GPUs: 4}})
		}
		c, err := cluster.New(nodes)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(t.Context(), &policy.Snapshot{Round: round, Length: time.Minute, Cluster: c, Jobs: []*policy.Job{j}})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Jobs[0].Allocation; got.GPUs != 4 || got.GPUType != "rtx" {
			t.Errorf("types %v: got %v, want 4 GPUs of rtx", types, got)
		}
	}
}
