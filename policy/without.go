package policy

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
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

// Remember lets m save or restore the state that d keeps between rounds.
func (d *Decision) Remember(m *memory.Codec) {
	m.Fields(&d.Allocation, &d.Placement, &d.Batch, &d.Why)
}

// Remember lets m save or restore the state that r keeps between rounds.
func (r *Reason) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&r.Kind), &r.Config, &r.Value, &r.Limit)
}

// Speed estimates rate, the progress of job j on allocation a per second, in samples at the efficiency of its initial
// batch size, and pass, the samples that one replica processes in one step. Both are 0 if j has no model.
//
// The batch size is the last reported one if neither the batch size nor the number of GPUs may be adapted. Otherwise it
// is the result of AsSubmitted, or, if that is zero, the agent's choice.
func (j *Job) Speed(a cluster.Allocation) (rate, pass float64) {
	if j.Perf == nil {
		return 0, 0
	}
	b := j.trains(&a)
	return perf.Goodput(j.Perf, a, j.Replicas(&a), b), float64(b.PerReplica())
}

// Throughput estimates rate, the samples of job j on allocation a per second, and step, the samples that all replicas
// process in one step, with the batch size that Speed uses. Both are 0 if j has no model.
func (j *Job) Throughput(a cluster.Allocation) (rate, step float64) {
	if j.Perf == nil {
		return 0, 0
	}
	b := j.trains(&a)
	return j.Perf.Throughput(a, b), float64(b.PerReplica() * j.Replicas(&a))
}

func (j *Job) trains(a *cluster.Allocation) job.BatchSize {
	if b := j.Status.Batch; b != (job.BatchSize{}) && j.Adaptivity&(job.BatchSizes|job.GPUCount) == 0 {
		return b
	}
	return j.Expected(*a, j.AsSubmitted(a))
}

// AsSubmitted returns the submitted batch size of job j, divided among its replicas on allocation a. If no batch size
// was submitted, or if BatchLimits().Max is at most 1, it returns zero: the agent chooses.
func (j *Job) AsSubmitted(a *cluster.Allocation) job.BatchSize {
	l := j.BatchLimits()
	if j.BatchSize <= 0 || l.Max <= 1 {
		return job.BatchSize{}
	}
	return perf.FixedBatch(j.BatchSize, j.Replicas(a), a.GPUType, l)
}

// Replicas returns how many data-parallel replicas job j has on an allocation.
func (j *Job) Replicas(a *cluster.Allocation) int {
	return a.AllGPUs() / j.ReplicaGPUs(a.GPUType)
}

// Basis returns the information from which the remaining work of job j at time now is estimated, without the statistics
// of its class. Snapshot.Basis includes these.
func (j *Job) Basis(now time.Time) perf.Remaining {
	b := perf.Remaining{Spec: j.Spec, Status: &j.Status, Now: now}
	if j.Phase == job.Running && j.Holding() {
		b.Held, _ = j.Speed(j.Allocation)
	}
	return b
}

// Done returns the estimated progress of job j at time now.
func (j *Job) Done(now time.Time) float64 {
	b := j.Basis(now)
	return b.Progress()
}

// Work returns the estimated remaining work of job j, and the source of this estimate.
func (s *Snapshot) Work(j *Job) (left float64, from perf.WorkSource) {
	b := s.Basis(j)
	return b.Work()
}

// Basis returns the information from which the remaining work of job j is estimated, with the statistics of its class.
func (s *Snapshot) Basis(j *Job) perf.Remaining {
	b := j.Basis(s.Now)
	if j.Target > 0 || j.Class == "" {
		return b
	}
	for _, c := range s.Classes {
		if c.Class == j.Class {
			for _, size := range c.Sizes {
				b.Mean += size
			}
		}
	}
	return b
}
