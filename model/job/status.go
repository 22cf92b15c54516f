package job

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Phase is where a job is in its life. Every accepted job reaches exactly
// one terminal phase: Completed, Failed or Cancelled.
type Phase uint8

// The phases, in the order a job usually passes them.
const (
	Profiling Phase = iota // its one-GPU profiles are being taken
	Waiting                // for GPUs
	Restoring              // holds GPUs; starting, or restoring its checkpoint
	Running
	Completed
	Failed
	Cancelled
)

var phaseNames = [...]string{"profiling", "waiting", "restoring", "running", "completed", "failed", "cancelled"}

// String returns the phase in lower case.
func (p Phase) String() string { return phaseNames[p] }

// Terminal reports whether nothing more can happen to the job.
func (p Phase) Terminal() bool { return p >= Completed }

// A Status is what happened to a job since it was submitted.
type Status struct {
	Phase        Phase
	Submitted    time.Time
	FirstStarted time.Time     // zero if never
	Finished     time.Time     // zero if not
	Since        time.Time     // when Allocation last changed
	Service      time.Duration // time with GPUs before Since; see AttainedService
	GPUService   time.Duration // GPU-seconds before Since; see AttainedGPUService
	Restarts     int           // N_i: starts after the first
	Progress     float64       // samples at Init efficiency, as last reported; of a job that was stopped since, as estimated then
	Reported     time.Time     // when Progress was last reported; zero if never
	Epoch        int           // as last reported
	Batch        BatchSize     // as last reported
	MaxGPUs      int           // most GPUs ever run on and reported from
	Allocation   cluster.Allocation
	Placement    cluster.Placement
}

// Age returns the time since submission: T_i of Sia Eq. 3.3.
func (s *Status) Age(now time.Time) time.Duration { return now.Sub(s.Submitted) }

// Holding reports whether the job has GPUs.
func (s *Status) Holding() bool { return s.Allocation.GPUs > 0 }

// AttainedService returns how long the job has held GPUs up to now.
func (s *Status) AttainedService(now time.Time) time.Duration {
	if !s.Holding() {
		return s.Service
	}
	return s.Service + now.Sub(s.Since)
}

// AttainedGPUService returns the GPU time the job has held up to now.
func (s *Status) AttainedGPUService(now time.Time) time.Duration {
	if !s.Holding() {
		return s.GPUService
	}
	return s.GPUService + time.Duration(s.Allocation.AllGPUs())*now.Sub(s.Since)
}

// A Report is what a job's agent measured over an interval in which nothing
// changed. Times are means over optimiser steps.
type Report struct {
	Job           ID
	Interval      time.Duration
	Configuration cluster.Configuration
	CPUs          float64 // held, cores; 0: not counted
	Memory        int64   // held, host bytes; as CPUs
	Batch         BatchSize
	StepTime      time.Duration // one synchronising pass: compute and gradient exchange
	SyncTime      time.Duration // of which gradient exchange
	GradSqr       float64       // squared norm of the gradient, referred to B0
	GradVar       float64       // its variance, referred to B0; both 0: not measured
	Progress      float64       // samples at Init efficiency since the job began
	Epoch         int
	Profile       bool // a one-GPU profiling run, not training
}

// Step returns how long an optimiser step took: the pass that synchronises, and before it those
// of accumulation, which only compute.
func (r *Report) Step() time.Duration {
	return r.StepTime + time.Duration(r.Batch.Accumulation)*max(0, r.StepTime-r.SyncTime)
}

// Validate returns an error that joins all that is wrong with r: numbers that are not
// finite, or below 0.
func (r *Report) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"interval", r.Interval.Seconds()},
		{"CPUs", r.CPUs},
		{"memory", float64(r.Memory)},
		{"local batch size", float64(r.Batch.Local)},
		{"accumulation", float64(r.Batch.Accumulation)},
		{"step time", r.StepTime.Seconds()},
		{"sync time", r.SyncTime.Seconds()},
		{"squared gradient", r.GradSqr},
		{"gradient variance", r.GradVar},
		{"progress", r.Progress},
		{"epoch", float64(r.Epoch)},
	} {
		if !(f.value >= 0) || math.IsInf(f.value, 1) {
			errs = append(errs, fmt.Errorf("%s %v, want finite and at least 0", f.name, f.value))
		}
	}
	return errors.Join(errs...)
}
