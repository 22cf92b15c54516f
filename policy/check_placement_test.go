package policy_test

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Job a stays on the only node, job b has been placed beside it.
func TestCheckPlacement(t *testing.T) {
	on := func(node cluster.NodeID, gpus int) cluster.Placement {
		return cluster.Placement{{Node: node, Resources: cluster.Resources{GPUs: gpus}}}
	}
	for name, c := range map[string]struct {
		spoil func(s *policy.Snapshot, p *policy.Plan)
		want  string // empty: the plan passes
	}{
		"what fits passes":          {func(*policy.Snapshot, *policy.Plan) {}, ""},
		"evicted jobs hold nothing": {func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[1] = policy.Decision{} }, ""},
		"a decision is missing":     {func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs = p.Jobs[:1] }, "one decision per job"},
		"a node is given twice": {func(_ *policy.Snapshot, p *policy.Plan) {
			p.Jobs[1].Allocation.GPUs, p.Jobs[1].Placement = 3, on("n", 3)
		}, "node n: 5 GPUs in use, want at most 4"},
		"less than what was granted": {func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[1].Placement = on("n", 1) }, "job b: placed 1 GPUs, want the 2 allocated"},
		"an unknown node":            {func(_ *policy.Snapshot, p *policy.Plan) { p.Jobs[1].Placement = on("m", 2) }, "job b: node m is not in the cluster"},
		"a job that must not move": {func(s *policy.Snapshot, p *policy.Plan) {
			s.Jobs[0].Spec.NonPreemptive, s.Jobs[0].Placement = true, on("gone", 2)
		}, "job a: placed on"},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
			if err != nil {
				t.Fatal(err)
			}
			two := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "t4"}}
			a := &policy.Job{Spec: &job.Spec{ID: "a", GPUs: 2}, Status: job.Status{Phase: job.Running, Allocation: two, Placement: on("n", 2)}}
			b := &policy.Job{Spec: &job.Spec{ID: "b", GPUs: 2}, Status: job.Status{Phase: job.Waiting}}
			s := &policy.Snapshot{Cluster: nodes, Jobs: []*policy.Job{a, b}}
			p := &policy.Plan{Jobs: []policy.Decision{{Allocation: two, Placement: a.Placement}, {Allocation: two, Placement: on("n", 2)}}}
			c.spoil(s, p)
			if c.want == "" {
				if err := policy.CheckPlacement(s, p); err != nil {
					t.Errorf("got %v, want a pass", err)
				}
			} else if err := policy.CheckPlacement(s, p); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}
