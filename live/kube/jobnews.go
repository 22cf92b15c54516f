package kube

import (
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// refused takes in that pods of a job cannot be made. If it does not train yet it is given up. One
// that can do with those there are is planned with no more, for a time.
func (w *World) refused(e *jobstate.Job, why string) {
	gpus, elastic := e.Made()*e.Parsed.PerWorker.GPUs, e.Spec.Adaptivity&job.GPUCount != 0 && !e.Spec.NonPreemptive
	suffices := elastic && gpus >= max(1, e.Spec.MinGPUs)
	if suffices {
		e.Limit = jobstate.Limit{GPUs: gpus, Why: why, Until: time.Now().Add(jobstate.LongBackoff)}
		w.describe(e)
	}
	if e.TrainsIn == e.Held.Generation {
		return
	}
	if !suffices {
		e.Failures = max(e.Failures, jobstate.Tries-1) // no glitch: others have its turn at once
	}
	w.lose(e, "its pods cannot be made: "+why)
}
