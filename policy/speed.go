package policy

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// Speed returns two estimates for job j on allocation a. rate is its progress per second, in samples at the efficiency
// of its initial batch size. pass is the number of samples that one replica processes in one step. Both are 0 if j has
// no model.
//
// The batch size is the last reported one if neither the batch size nor the number of GPUs may be adapted. Otherwise it
// is the result of AsSubmitted, or, if that is zero, the batch size that the agent would choose.
func (j *Job) Speed(a cluster.Allocation) (rate, pass float64) {
	if j.Perf == nil {
		return 0, 0
	}
	b := j.trains(&a)
	return perf.Goodput(j.Perf, a, j.Replicas(&a), b), float64(b.PerReplica())
}

// Throughput returns two estimates for job j on allocation a, with the batch size that Speed uses. rate is
// the samples per second, and step is the samples that all replicas process in one step. Both are 0 if j
// has no model.
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
