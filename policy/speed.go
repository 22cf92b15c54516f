package policy

import (
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// Speed returns the believed progress per second of j on an allocation, in samples
// at initial-batch efficiency, and the samples that one of its replicas passes over
// in a step, with the batch size that it trains with: the last that it reported, if
// no policy may choose it or its number of replicas; or else the one it was submitted
// with, or the best one if the agent chooses. It returns 0 and 0 if j has no model.
func (j *Job) Speed(a cluster.Allocation) (rate, pass float64) {
	if j.Perf == nil {
		return 0, 0
	}
	b := j.trains(&a)
	return perf.Goodput(j.Perf, a, j.Replicas(&a), b), float64(b.PerReplica())
}

// Throughput returns the believed samples per second that j passes over on an allocation,
// whatever they are worth to it, with the batch size of Speed, and the samples of a step of all
// its replicas. It returns 0 and 0 if j has no model.
func (j *Job) Throughput(a cluster.Allocation) (rate, step float64) {
	if j.Perf == nil {
		return 0, 0
	}
	b := j.trains(&a)
	return j.Perf.Throughput(a, b), float64(b.PerReplica() * j.Replicas(&a))
}

// trains returns the batch size with which j is believed to train on an allocation.
func (j *Job) trains(a *cluster.Allocation) job.BatchSize {
	if b := j.Status.Batch; b != (job.BatchSize{}) && j.Adaptivity&(job.BatchSizes|job.GPUCount) == 0 {
		return b
	}
	return j.Expected(*a, j.AsSubmitted(a))
}

// AsSubmitted returns how j trains with the batch size it was submitted with; zero,
// the agent's choice, if it was submitted without one or without limits, or if
// there is only one to choose.
func (j *Job) AsSubmitted(a *cluster.Allocation) job.BatchSize {
	l := j.BatchLimits()
	if j.BatchSize <= 0 || l.Max <= 1 {
		return job.BatchSize{}
	}
	return perf.FixedBatch(j.BatchSize, j.Replicas(a), a.GPUType, l)
}

// Replicas returns the replicas of j on an allocation.
func (j *Job) Replicas(a *cluster.Allocation) int {
	return a.AllGPUs() / j.ReplicaGPUs(a.GPUType)
}

// Basis returns the data from which the work that j has left is estimated, without what is
// known of its class; Snapshot.Basis has that too.
func (j *Job) Basis(now time.Time) perf.Remaining {
	b := perf.Remaining{Spec: j.Spec, Status: &j.Status, Now: now}
	if j.Phase == job.Running && j.Holding() {
		b.Held, _ = j.Speed(j.Allocation)
	}
	return b
}

// Done returns the progress that j is believed to have made by now: see
// perf.Remaining.Progress.
func (j *Job) Done(now time.Time) float64 {
	b := j.Basis(now)
	return b.Progress()
}

// Work returns the progress that j is believed to lack now, and what that rests on: see
// perf.Remaining.Work.
func (s *Snapshot) Work(j *Job) (left float64, from perf.WorkSource) {
	b := s.Basis(j)
	return b.Work()
}

// Basis returns the data from which the work that j has left is estimated.
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
