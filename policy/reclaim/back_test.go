package reclaim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// lent returns a snapshot of an owned node and lent ones 1 to 4 of four GPUs, of which so many
// are wanted back.
func lent(t *testing.T, wanted int) *policy.Snapshot {
	t.Helper()
	nodes := []cluster.Node{{ID: "own", GPUType: "v100", Capacity: cluster.Resources{GPUs: 4}}}
	for i := range 4 {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprint(i + 1)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Tenure: cluster.Loaned, Group: "search"})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return &policy.Snapshot{Cluster: c, Loans: []cluster.Loan{{Group: "search", Node: nodes[1], Nodes: 4, Lent: 4, Reclaim: wanted}}}
}

// place adds a job that runs with two GPUs on each of some nodes.
func place(s *policy.Snapshot, set func(*job.Spec), on ...cluster.NodeID) {
	spec := &job.Spec{ID: job.ID(fmt.Sprint("j", len(s.Jobs))), Adaptivity: job.Adaptive}
	set(spec)
	j := &policy.Job{Spec: spec, Status: job.Status{Phase: job.Running}}
	for _, id := range on {
		j.Placement = append(j.Placement, cluster.Share{Node: id, Resources: cluster.Resources{GPUs: 2}})
	}
	j.Allocation.Configuration = cluster.Configuration{Nodes: len(on), GPUs: 2 * len(on), GPUType: "t4"}
	s.Jobs = append(s.Jobs, j)
}

func TestBack(t *testing.T) {
	plain := func(*job.Spec) {}
	for name, test := range map[string]struct {
		wanted int
		jobs   func(*policy.Snapshot)
		want   []cluster.NodeID
	}{
		"nothing is wanted":      {0, func(s *policy.Snapshot) {}, nil},
		"idle nodes first":       {2, func(s *policy.Snapshot) { place(s, plain, "1"); place(s, plain, "3") }, []cluster.NodeID{"2", "4"}},
		"nodes that share a job": {2, func(s *policy.Snapshot) { place(s, plain, "1"); place(s, plain, "2", "4"); place(s, plain, "3") }, []cluster.NodeID{"2", "4"}},
		"workers that can leave": {1, func(s *policy.Snapshot) {
			for _, id := range []cluster.NodeID{"1", "2", "4"} {
				place(s, plain, id)
			}
			place(s, func(s *job.Spec) { s.Resizes = true }, "1", "3")
		}, []cluster.NodeID{"3"}},
		"not those of a job that stays": {4, func(s *policy.Snapshot) {
			place(s, func(s *job.Spec) { s.NonPreemptive = true }, "2")
			place(s, plain, "1", "3", "4")
		}, []cluster.NodeID{"1", "3", "4"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := lent(t, test.wanted)
			test.jobs(s)
			got, err := reclaim.Back(s, reclaim.DefaultOptions())
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%v, %v go back, want %v", got, err, test.want)
			}
		})
	}
}
