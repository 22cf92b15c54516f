package counterfactual

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// With returns a copy of snapshot s in which change has modified the specification of one job, s.Jobs[index].
func With(s *policy.Snapshot, index int, change func(*job.Spec)) *policy.Snapshot {
	then, row, spec := *s, *s.Jobs[index], *s.Jobs[index].Spec
	change(&spec)
	row.Spec = &spec
	then.Jobs = slices.Clone(s.Jobs)
	then.Jobs[index] = &row
	return &then
}

func asking(n int) func(*job.Spec) {
	return func(spec *job.Spec) {
		spec.MinGPUs, spec.Reservation = min(spec.MinGPUs, n), cluster.Configuration{}
		if !spec.Adaptivity.Has(job.GPUCount) {
			spec.GPUs = n
		}
	}
}

// Without returns a copy of the snapshot in which the jobs in ended have ended.
func Without(s *policy.Snapshot, ended []job.ID) *policy.Snapshot {
	then, has := *s, make(map[job.ID]bool, len(ended))
	for _, id := range ended {
		has[id] = true
	}
	then.Jobs = slices.DeleteFunc(slices.Clone(s.Jobs), func(j *policy.Job) bool { return has[j.ID] })
	return &then
}

// Remaining returns copies of a snapshot and its plan without the jobs in ended.
func Remaining(s *policy.Snapshot, p *policy.Plan, ended []job.ID) (*policy.Snapshot, *policy.Plan) {
	if len(ended) == 0 {
		return s, p
	}
	then := *p
	then.Jobs = nil
	for i, j := range s.Jobs {
		if !slices.Contains(ended, j.ID) {
			then.Jobs = append(then.Jobs, p.Jobs[i])
		}
	}
	return Without(s, ended), &then
}

// Grown returns a copy of snapshot s with gpus more GPUs of type t, which the cluster must already have. They are on
// owned nodes of the usual size, with the proportional CPUs and memory.
func Grown(s *policy.Snapshot, t *cluster.TypeInfo, gpus int) *policy.Snapshot {
	nodes := slices.Clone(s.Cluster.Nodes())
	like := nodes[slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.GPUType == t.Type })]
	for i := 0; gpus > 0; i++ {
		n := like
		n.ID, n.Tenure, n.Group = cluster.NodeID(fmt.Sprintf("%s more-%d", t.Type, i)), cluster.Owned, ""
		n.Capacity.GPUs = min(gpus, t.PerNode)
		if n.Capacity.CPUs, n.Capacity.Memory = 0, 0; t.Counts() {
			n.Capacity.CPUs, n.Capacity.Memory = float64(n.Capacity.GPUs)*t.Share.CPUs, int64(n.Capacity.GPUs)*t.Share.Memory
		}
		gpus -= n.Capacity.GPUs
		nodes = append(nodes, n)
	}
	return on(s, nodes)
}

func arrived(s *policy.Snapshot, rental, more int) *policy.Snapshot {
	r := s.Rentals[rental]
	nodes := slices.Clone(s.Cluster.Nodes())
	for i := range more {
		n := r.Node
		n.ID = cluster.NodeID(fmt.Sprintf("%s next-%d", r.Group, i))
		nodes = append(nodes, n)
	}
	then := on(s, nodes)
	if then == nil {
		return nil
	}
	then.Rentals = slices.Clone(s.Rentals)
	then.Rentals[rental].Ready, then.Rentals[rental].Starting = r.Ready+more, max(0, r.Starting-more)
	return then
}

func on(s *policy.Snapshot, nodes []cluster.Node) *policy.Snapshot {
	then := *s
	var err error
	if then.Cluster, err = cluster.New(nodes); err != nil {
		return nil
	}
	return &then
}

func after(s *policy.Snapshot, rounds int) *policy.Snapshot {
	then := *s
	then.Round, then.Now = s.Round+rounds, s.Now.Add(time.Duration(rounds)*s.Length)
	return &then
}
