package job

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Phase is the state of a job, such as waiting or running. Every accepted job ends in one of the phases
// Completed, Failed and Cancelled.
type Phase uint8

// The phases, in the usual order.
const (
	Profiling Phase = iota // being measured on one GPU of each type
	Waiting
	Restoring // holds GPUs, and starts or restores its checkpoint
	Running
	Completed
	Failed
	Cancelled
)

var phaseNames = [...]string{"profiling", "waiting", "restoring", "running", "completed", "failed", "cancelled"}

// String returns the phase in lower case, such as "waiting".
func (p Phase) String() string { return phaseNames[p] }

// Terminal reports whether the phase is final.
func (p Phase) Terminal() bool { return p >= Completed }

// A Status is the state of a job, and what has happened to it since its submission.
type Status struct {
	Phase        Phase
	Submitted    time.Time
	FirstStarted time.Time     // zero if never
	Finished     time.Time     // zero if not
	Since        time.Time     // time at which Allocation last changed
	Service      time.Duration // time with GPUs, until Since
	GPUService   time.Duration // GPU time, until Since
	Restarts     int           // starts after the first, N_i
	Progress     float64       // samples at the efficiency of Batch.Init, as last reported; estimated if the job was stopped since then
	Reported     time.Time     // when Progress was last reported; zero if never
	Epoch        int           // last reported epoch
	Batch        BatchSize     // last reported batch size
	MaxGPUs      int           // largest number of GPUs in any report so far
	Allocation   cluster.Allocation
	Placement    cluster.Placement
}

// Age returns the time from submission to now: T_i in Sia Eq. 3.3.
func (s *Status) Age(now time.Time) time.Duration { return now.Sub(s.Submitted) }

// Holding reports whether the job has GPUs.
func (s *Status) Holding() bool { return s.Allocation.GPUs > 0 }

// AttainedService returns how long the job has held GPUs so far.
func (s *Status) AttainedService(now time.Time) time.Duration {
	if !s.Holding() {
		return s.Service
	}
	return s.Service + now.Sub(s.Since)
}

// AttainedGPUService returns the GPU time that the job has used until now: the number of its GPUs times the time for
// which it held them.
func (s *Status) AttainedGPUService(now time.Time) time.Duration {
	if !s.Holding() {
		return s.GPUService
	}
	return s.GPUService + time.Duration(s.Allocation.AllGPUs())*now.Sub(s.Since)
}

// A Report has the measurements of a training program over an interval with constant GPUs and batch size. Times
// are means over optimiser steps.
type Report struct {
	Job           ID
	Interval      time.Duration
	Configuration cluster.Configuration
	CPUs          float64 // cores that the job held; 0: not counted
	Memory        int64   // bytes of host memory that it held; 0: not counted
	Batch         BatchSize
	StepTime      time.Duration // time of a pass with exchange of gradients
	SyncTime      time.Duration // part of StepTime for the exchange
	GradSqr       float64       // squared norm of the gradient, relative to B0
	GradVar       float64       // variance of the gradient, relative to B0; both 0: not measured
	Progress      float64       // samples at the efficiency of Batch.Init since the job's start
	Epoch         int
	Profile       bool // measured by a one-GPU profiling run, not in training
}

// Step returns the time of one optimiser step: the passes that accumulate gradients, and the pass that exchanges
// them.
func (r *Report) Step() time.Duration {
	return r.StepTime + time.Duration(r.Batch.Accumulation)*max(0, r.StepTime-r.SyncTime)
}

// Validate returns an error for each number of the report that is negative, infinite or NaN.
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
