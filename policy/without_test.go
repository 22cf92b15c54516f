package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// on returns two GPUs of each of some nodes.
func on(nodes ...cluster.NodeID) cluster.Placement {
	var p cluster.Placement
	for _, id := range nodes {
		p = append(p, cluster.Share{Node: id, Resources: cluster.Resources{GPUs: 2}})
	}
	return p
}

// Without nodes that go back a job has what is left to it, if it goes on with that; or else it
// waits, and has had its service.
func TestWithout(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var nodes []cluster.Node
	for _, id := range []cluster.NodeID{"a", "b", "c"} {
		nodes = append(nodes, cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	type held struct {
		Phase    job.Phase
		On       cluster.Placement
		GPUs     int
		Service  time.Duration
		Progress float64
	}
	for name, test := range map[string]struct {
		set  func(*job.Spec)
		on   cluster.Placement
		want held
	}{
		"elsewhere":               {func(*job.Spec) {}, on("a", "c"), held{job.Running, on("a", "c"), 4, 0, 70}},
		"half of it":              {func(*job.Spec) {}, on("a", "b"), held{job.Waiting, nil, 0, time.Hour, 70}},
		"half, resizes":           {func(s *job.Spec) { s.Resizes = true }, on("a", "b"), held{job.Running, on("a"), 2, time.Hour, 70}},
		"too little is left":      {func(s *job.Spec) { s.Resizes, s.MinGPUs = true, 4 }, on("a", "b"), held{job.Waiting, nil, 0, time.Hour, 70}},
		"all, resizes":            {func(s *job.Spec) { s.Resizes = true }, on("b"), held{job.Waiting, nil, 0, time.Hour, 70}},
		"all, without checkpoint": {func(s *job.Spec) { s.NoCheckpoint = true }, on("b"), held{job.Waiting, nil, 0, time.Hour, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &job.Spec{ID: "j", GPUs: 4, Adaptivity: job.Adaptive}
			test.set(spec)
			j := &policy.Job{Spec: spec, Status: job.Status{Phase: job.Running, Since: now.Add(-time.Hour), Progress: 70, Placement: test.on}}
			j.Allocation.Configuration = cluster.Configuration{Nodes: len(test.on), GPUs: test.on.GPUs(), GPUType: "t4"}
			before := *j
			s := &policy.Snapshot{Now: now, Cluster: c, Jobs: []*policy.Job{j}}
			rest := s.Without([]cluster.NodeID{"b"})
			got := rest.Jobs[0]
			if diff := cmp.Diff(test.want, held{got.Phase, got.Placement, got.Allocation.GPUs, got.Service, got.Progress}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if name == "elsewhere" && got != j {
				t.Error("the row of a job elsewhere is another")
			}
			if _, there := rest.Cluster.Index("b"); there || rest.Cluster.GPUs() != 8 {
				t.Errorf("the cluster has %d GPUs, want 8", rest.Cluster.GPUs())
			}
			if diff := cmp.Diff(before.Status, j.Status); diff != "" || s.Cluster != c {
				t.Errorf("the snapshot was changed:\n%s", diff)
			}
		})
	}
	if s := (&policy.Snapshot{Cluster: c}); s.Without(nil) != s {
		t.Error("without no nodes the snapshot is another")
	}
}
