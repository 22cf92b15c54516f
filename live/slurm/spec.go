package slurm

import (
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// restart is the assumed duration of a restart, until one has been measured.
const restart = time.Minute

func jobID(id client.ID) job.ID { return job.ID(id.String()) }

// spec returns the job's specification for the scheduler. It assumes that the job runs for its time limit: an elastic
// job on its minimum of GPUs, and proportionally shorter on more.
func (j *Job) spec() *job.Spec {
	s := &job.Spec{
		ID: jobID(j.ID), Name: j.Name, User: j.User, Queue: j.Partition, Class: j.Class, GPUs: Wants(j.Job),
	}
	s.Timed = true
	if !j.Unlimited {
		s.Target = j.Limit.Seconds()
	}
	if j.elastic() {
		s.GPUTypes, s.GPUs, s.MinGPUs, s.MaxGPUs = j.GPUTypes(), j.Min, j.Min, j.Max
		s.Adaptivity, s.RestartOverhead = job.GPUCount|job.AnyGPUType, restart
		return s
	}
	if t := typeOf(&j.Job); t != "" {
		s.GPUTypes = []cluster.GPUType{gpuType(t)}
	}
	s.MinGPUs, s.MaxGPUs, s.NonPreemptive = s.GPUs, s.GPUs, true
	return s
}

func (j *Job) elastic() bool { return j.Takes() && j.Part == client.Elastic }

// Status returns the job's status at a time.
func (j *Job) Status(at time.Time) job.Status {
	st := job.Status{Phase: job.Waiting, Submitted: j.Submit, Since: at, Restarts: j.Restarts}
	if st.Submitted.IsZero() || st.Submitted.After(at) {
		st.Submitted = at
	}
	if !j.Holds() {
		return st
	}
	st.Phase, st.Allocation, st.Placement = job.Running, cluster.Allocation{Configuration: j.Configuration}, j.Placement
	if !j.Start.IsZero() && !j.Start.After(at) {
		st.Since, st.FirstStarted = j.Start, j.Start
	} else {
		st.FirstStarted = at
	}
	if !j.elastic() {
		st.Progress, st.Reported = at.Sub(st.Since).Seconds(), at
	}
	return st
}
