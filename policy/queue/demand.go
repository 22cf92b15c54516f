package queue

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// Demand returns the GPUs that job j requests, with the CPUs and memory from which it gains no more speed. These are
// for the GPU type that j holds, or else for its fastest type. If no type can run j, Demand returns only GPUs. Source:
// Synergy §3.2, "Job demand vector".
func Demand(s *policy.Snapshot, j *policy.Job) cluster.Resources {
	t, _ := home(s, j)
	if t == nil {
		return cluster.Resources{GPUs: grant.Requested(j)}
	}
	a := grant.Gang(j, t)
	if t.Counts() {
		cells := grant.Cells(j, t, a.Configuration, (a.GPUs+a.Nodes-1)/a.Nodes)
		best := cells[len(cells)-1]
		a.CPUs, a.Memory = float64(a.GPUs)*best.CPUs, int64(a.GPUs)*best.Memory
	}
	return cluster.Resources{GPUs: a.GPUs, CPUs: a.CPUs, Memory: a.Memory}
}

// home returns the GPU type that j holds, or else its fastest, and its estimated goodput there; nil
// if none can run it.
func home(s *policy.Snapshot, j *policy.Job) (best *cluster.TypeInfo, fastest float64) {
	types := s.Cluster.Types()
	for i := range types {
		t := &types[i]
		if !grant.Usable(j, t) || j.Holding() && j.Allocation.GPUType != t.Type {
			continue
		}
		if v := grant.Goodput(j, grant.Gang(j, t)); best == nil || v > fastest {
			best, fastest = t, v
		}
	}
	return best, fastest
}
