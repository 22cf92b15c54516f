package placement_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/placement/submesh"
)

// BenchmarkRacks places 25,000 GPUs in 200 racks, all in use, on which one job in twenty ends in
// each round and another of the same size begins, beside the placer that it stands on.
func BenchmarkRacks(b *testing.B) {
	other := submesh.New(submesh.DefaultOptions())
	for name, pl := range map[string]placement.Placer{"submesh": other, "racks": placement.NewRacks(submesh.New(submesh.DefaultOptions()))} {
		b.Run(name, func(b *testing.B) {
			s, p := full(b)
			r := rng.Stream(1, "bench")
			for b.Loop() {
				b.StopTimer()
				for i, j := range s.Jobs {
					now := *j
					if now.Placement, now.Phase = p.Jobs[i].Placement, job.Running; r.IntN(20) == 0 {
						now = policy.Job{Spec: j.Spec}
					}
					now.Allocation, s.Jobs[i] = p.Jobs[i].Allocation, &now
					if now.Placement == nil {
						now.Allocation, now.Phase = cluster.Allocation{}, job.Waiting
					}
					p.Jobs[i].Placement = nil
				}
				b.StartTimer()
				if _, err := pl.Place(b.Context(), s, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// full returns a cluster and jobs for all of it, on up to 8 nodes each.
func full(b *testing.B) (*policy.Snapshot, *policy.Plan) {
	nodes := make([]cluster.Node, 3125)
	for i := range nodes {
		nodes[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%04d", i)), GPUType: "t4", Capacity: cluster.Resources{GPUs: 8}, Rack: fmt.Sprint("r", i%200)}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		b.Fatal(err)
	}
	s, p, r := &policy.Snapshot{Cluster: c}, &policy.Plan{}, rng.Stream(1, "jobs")
	for free := c.GPUs(); ; {
		g := 1 << r.IntN(7)
		if g > free {
			return s, p
		}
		free -= g
		s.Jobs = append(s.Jobs, &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprint("j", len(s.Jobs))), Adaptivity: job.Adaptive}})
		p.Jobs = append(p.Jobs, policy.Decision{Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: (g + 7) / 8, GPUs: g, GPUType: "t4"}}})
	}
}
