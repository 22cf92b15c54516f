package submesh_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
)

// TestPlace_looks_for_CPUs_and_memory: a job goes where the plan's CPUs and memory
// are left, on the fullest such node; where none has them, on the fullest.
func TestPlace_looks_for_CPUs_and_memory(t *testing.T) {
	var nodes []cluster.Node
	for i := range 3 {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprint(i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500e9}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		gpus   int
		cpus   float64
		memory int64
		want   cluster.NodeID
	}{
		"on the fullest node that has them": {2, 2, 20e9, "0"},
		"on another for its CPUs":           {2, 10, 20e9, "1"},
		"on another for its memory":         {2, 2, 200e9, "1"},
		"on an idle one":                    {2, 20, 20e9, "2"},
		"nowhere has them":                  {2, 40, 20e9, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := &policy.Snapshot{Cluster: c}, &policy.Plan{Fungible: true}
			add := func(gpus int, cpus float64, memory int64, held cluster.NodeID) {
				spec := &job.Spec{ID: job.ID(fmt.Sprint(len(s.Jobs))), GPUs: gpus}
				a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "v100"}, CPUs: cpus, Memory: memory}
				j := &policy.Job{Spec: spec}
				if held != "" {
					j.Allocation, j.Phase = a, job.Running
					j.Placement = cluster.Placement{{Node: held, Resources: cluster.Resources{GPUs: gpus, CPUs: cpus, Memory: memory}}}
				}
				s.Jobs, p.Jobs = append(s.Jobs, j), append(p.Jobs, policy.Decision{Allocation: a})
			}
			add(4, 20, 350e9, "0") // of four GPUs free, the share of one of CPUs and two of memory
			add(2, 12, 60e9, "1")
			add(test.gpus, test.cpus, test.memory, "")
			if _, err := submesh.New(submesh.DefaultOptions()).Place(t.Context(), s, p); err != nil {
				t.Fatal(err)
			}
			var got []cluster.NodeID
			for _, d := range p.Jobs {
				got = append(got, d.Placement[0].Node)
			}
			if diff := cmp.Diff([]cluster.NodeID{"0", "1", test.want}, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}
