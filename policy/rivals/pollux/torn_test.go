package pollux_test

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/rivals/pollux"
)

// A gang that loses some of its GPUs to a reservation moves to another GPU type, or waits: what is
// left of it is too little where it was, though it is as many GPUs as it needs elsewhere.
func TestPlan_of_a_torn_gang(t *testing.T) {
	node := func(id cluster.NodeID, of cluster.GPUType) cluster.Node {
		return cluster.Node{ID: id, GPUType: of, Capacity: cluster.Resources{GPUs: 4}}
	}
	nodes := []cluster.Node{node("a100-0", "a100"), node("rtx-0", "rtx"), node("rtx-1", "rtx")}
	small, err := cluster.New(nodes[:2])
	if err != nil {
		t.Fatal(err)
	}
	all, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	gang := &job.Spec{ID: "gang", GPUs: 2, BatchSize: 8, Adaptivity: job.AnyGPUType, Equivalents: map[cluster.GPUType]int{"a100": 2}, Batch: job.BatchLimits{Init: 8, Max: 8}}
	row := &policy.Job{Spec: gang, Limits: &gang.Batch, Status: job.Status{Phase: job.Running}}
	row.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "a100"}
	row.Placement = cluster.Placement{{Node: "a100-0", Resources: cluster.Resources{GPUs: 4}}}
	reserved := &policy.Job{Spec: &job.Spec{ID: "reserved", GPUs: 2, Reservation: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "a100"}}, Status: job.Status{Phase: job.Waiting}}
	for seed := range uint64(20) {
		p := fresh(t, func(o *pollux.Options) { o.Seed, o.Population, o.Generations = seed, 8, 4 })
		s := &policy.Snapshot{Now: time.Unix(1e9, 0), Length: time.Minute, Cluster: small, Jobs: []*policy.Job{row}}
		for range 2 {
			plan, err := p.Plan(t.Context(), s)
			if err == nil {
				err = policy.Check(s, plan)
			}
			if err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, s.Round, err)
			}
			s = &policy.Snapshot{Now: s.Now.Add(time.Minute), Round: 1, Length: time.Minute, Cluster: all, Jobs: []*policy.Job{row, reserved}}
		}
	}
}
