package policy

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
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

// Pinned returns a copy of job j that is non-preemptive. Check then rejects every plan that changes the job's GPUs.
func (j *Job) Pinned() *Job {
	row, spec := *j, new(job.Spec)
	*spec = *j.Spec
	spec.NonPreemptive = true
	row.Spec = spec
	return &row
}

// Forget deletes jobs that are not in the snapshot from a policy's map known, so that the map does not grow for ever,
// and returns the map. To save time it changes nothing until the map has more than twice as many entries as the
// snapshot has jobs, plus 64.
func Forget[V any](s *Snapshot, known map[job.ID]V) map[job.ID]V {
	if len(known) <= 2*len(s.Jobs)+64 {
		return known
	}
	there := make(map[job.ID]V, len(s.Jobs))
	for _, j := range s.Jobs {
		if v, ok := known[j.ID]; ok {
			there[j.ID] = v
		}
	}
	return there
}

// A Rememberer is a policy whose plans depend on earlier rounds, and that can save and restore this state.
// A second policy, made with the same options and given the saved state, must return identical plans from
// then on. Caches, and data that follows from the next snapshot, need not be saved. Job rows, specs, models
// and the cluster are saved as references (memory.Shared), because a policy may compare their addresses.
//
// A policy that does not implement it must not depend on earlier rounds.
type Rememberer interface {
	Policy
	memory.Rememberer
}

// Remember implements memory.Rememberer.
func (d *Decision) Remember(m *memory.Codec) {
	m.Fields(&d.Allocation, &d.Placement, &d.Batch, &d.Why)
}

// Remember implements memory.Rememberer.
func (r *Reason) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&r.Kind), &r.Config, &r.Value, &r.Limit)
}
