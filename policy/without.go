package policy

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Without returns the snapshot after the nodes in back have been returned to their owners: these nodes are missing, and
// jobs on them keep only their other GPUs. Rows of other jobs keep their pointers.
func (s *Snapshot) Without(back []cluster.NodeID) *Snapshot {
	if len(back) == 0 {
		return s
	}
	gone := make(map[cluster.NodeID]bool, len(back))
	for _, id := range back {
		gone[id] = true
	}
	rest := *s
	rest.Cluster = s.Cluster.Without(func(id cluster.NodeID) bool { return gone[id] })
	rest.Jobs = slices.Clone(s.Jobs)
	for i, j := range s.Jobs {
		if left := j.elsewhere(gone); len(left) < len(j.Placement) {
			rest.Jobs[i] = j.reduced(left, s.Now)
		}
	}
	return &rest
}

func (j *Job) elsewhere(gone map[cluster.NodeID]bool) cluster.Placement {
	onOne := func(s cluster.Share) bool { return gone[s.Node] }
	if !slices.ContainsFunc(j.Placement, onOne) {
		return j.Placement
	}
	return slices.DeleteFunc(slices.Clone(j.Placement), onOne)
}

// Stopped returns job j as a waiting job, after it has lost its GPUs at time now. It has only the progress that it had
// saved.
func (j *Job) Stopped(now time.Time) *Job { return j.reduced(nil, now) }

func (j *Job) reduced(left cluster.Placement, now time.Time) *Job {
	row := *j
	row.Service, row.GPUService, row.Since = j.AttainedService(now), j.AttainedGPUService(now), now
	if j.CanShrinkTo(left) {
		row.Placement, row.Allocation = left, j.part(left)
		return &row
	}
	if row.Progress = j.Done(now); j.NoCheckpoint {
		row.Progress = 0
	}
	row.Phase, row.Placement, row.Allocation = job.Waiting, nil, cluster.Allocation{}
	return &row
}

// CanShrinkTo reports whether a running job can continue to train on left, a part of its placement. Its workers must be
// able to leave during training, and enough of them must remain.
func (j *Job) CanShrinkTo(left cluster.Placement) bool {
	return j.Resizes && !j.NonPreemptive && j.Phase == job.Running && !j.Allocation.Mixed() && len(left) > 0 && j.Allows(j.part(left).Configuration)
}

func (j *Job) part(of cluster.Placement) cluster.Allocation {
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: len(of), GPUType: j.Allocation.GPUType}}
	for _, s := range of {
		a.GPUs, a.CPUs, a.Memory = a.GPUs+s.GPUs, a.CPUs+s.CPUs, a.Memory+s.Memory
	}
	return a
}
