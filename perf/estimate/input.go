package estimate

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// An input is what is learned of a job's input pipeline: its CPU curve, from
// profiling runs with all data cached. The memory axis follows from the job's
// Spec. Source: Synergy §3.1.
type input struct {
	points []perf.CPURate    // by ascending CPUs
	known  *perf.Sensitivity // of all points; nil: nothing is known
}

// starved is how near to what its input delivers a job has to train for its step
// time to say nothing of its GPUs.
const starved = 0.95

// learnInput takes in what a report says of CPUs, and reports whether it says
// something of GPUs too: not if the job waited for its input.
//
// A point is the fastest of all GPU types: a slow GPU cannot tell how many
// samples its CPUs could have prepared.
func (j *Job) learnInput(r *job.Report) bool {
	if r.CPUs == 0 || r.Configuration.GPUs == 0 {
		return true
	}
	gpus := r.Configuration.GPUs
	replicas := gpus / j.spec.ReplicaGPUs(r.Configuration.GPUType)
	cpus, rate := r.CPUs/float64(gpus), float64(replicas*r.Batch.Local)/(float64(gpus)*r.StepTime.Seconds())
	if r.Profile {
		j.addPoint(perf.CPURate{CPUs: cpus, Rate: rate})
		return cpus == j.input.points[len(j.input.points)-1].CPUs
	}
	return j.input.known == nil || rate < starved*j.input.known.Rate(cpus, r.Memory/int64(gpus))
}

// addPoint raises the curve to a measured point; more CPUs do not prepare less.
func (j *Job) addPoint(p perf.CPURate) {
	i, found := slices.BinarySearchFunc(j.input.points, p, func(a, b perf.CPURate) int { return cmp.Compare(a.CPUs, b.CPUs) })
	points := slices.Clone(j.input.points)
	if found {
		points[i].Rate = max(points[i].Rate, p.Rate)
	} else {
		points = slices.Insert(points, i, p)
	}
	for k := 1; k < len(points); k++ {
		points[k].Rate = max(points[k].Rate, points[k-1].Rate)
	}
	j.input.points, j.model = points, nil
	j.input.known = &perf.Sensitivity{CPUs: points, Input: j.spec.Input}
}

// Sensitivity returns what is believed of CPUs and memory; nil if nothing is
// known. It is immutable.
func (j *Job) Sensitivity() *perf.Sensitivity { return j.input.known }
