package estimate

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// An input is the CPU curve of a job's input pipeline, from profiling runs with all the memory of a node. The effect of
// memory follows from the job's Spec. Source: Synergy §3.1.
//
// One curve, samples per second against CPUs, serves all GPU types (Synergy §6, "Homogeneous clusters"). A measurement
// shows the lower of the rates of the CPUs and of the GPU. It is a point of the curve only if the CPUs limit it, which
// is certain if the job is slower than with all CPUs.
type input struct {
	curves [][]perf.CPURate  // by index in Options.Types and ascending CPUs; rates do not fall
	known  *perf.Sensitivity // combined from all curves; nil: unknown
}

// starved separates the two limits. A job waits for input if its rate is at least this fraction of
// the rate of its input; then its step time does not measure its GPUs. A rate below this fraction
// of the GPU's rate measures the input.
const starved = 0.95

// learnInput records what a report shows about CPUs, and reports whether it also measures GPUs: the job did
// not wait for input. The profiling run with the most CPUs must come first.
func (j *Job) learnInput(r *job.Report) bool {
	i := j.index(r.Configuration.GPUType)
	if r.CPUs == 0 || r.Configuration.GPUs == 0 || i < 0 || j.oracle != nil {
		return true
	}
	gpus := r.Configuration.GPUs
	replicas := gpus / j.spec.ReplicaGPUs(r.Configuration.GPUType)
	p := perf.CPURate{CPUs: r.CPUs / float64(gpus), Rate: float64(replicas*r.Batch.Local) / (float64(gpus) * r.StepTime.Seconds())}
	if r.Profile {
		j.addPoint(i, p)
		return p.CPUs == last(j.input.curves[i]).CPUs
	}
	if j.input.known == nil {
		return true
	}
	fed := j.input.known.Rate(p.CPUs, r.Memory/int64(gpus))
	return p.Rate < starved*fed || j.input.feeds(i, fed)
}

func (in *input) feeds(i int, rate float64) bool {
	return in.curves != nil && len(in.curves[i]) > 0 && rate >= last(in.curves[i]).Rate
}

func (j *Job) addPoint(i int, p perf.CPURate) {
	if j.input.curves == nil {
		j.input.curves = make([][]perf.CPURate, len(j.types))
	}
	curve, raised := raise(j.input.curves[i], p)
	if !raised {
		return
	}
	j.input.curves[i] = curve
	j.own++
	j.input.known = &perf.Sensitivity{CPUs: j.input.combined(), Input: j.spec.Input}
}

func (in *input) combined() []perf.CPURate {
	fastest := slices.MaxFunc(in.curves, func(a, b []perf.CPURate) int { return cmp.Compare(last(a).Rate, last(b).Rate) })
	all := slices.Clone(fastest)
	for _, curve := range in.curves {
		for _, p := range curve {
			if p.Rate < starved*last(curve).Rate {
				all, _ = raise(all, p)
			}
		}
	}
	return all
}

// raise adds a point to a curve, raises later points so that rates do not fall, and reports whether the curve
// changed. It may modify its argument.
func raise(curve []perf.CPURate, p perf.CPURate) ([]perf.CPURate, bool) {
	at, found := slices.BinarySearchFunc(curve, p.CPUs, func(q perf.CPURate, cpus float64) int { return cmp.Compare(q.CPUs, cpus) })
	switch {
	case !found:
		curve = slices.Insert(curve, at, p)
	case curve[at].Rate >= p.Rate:
		return curve, false
	}
	curve[at].Rate = p.Rate
	for k := 1; k < len(curve); k++ {
		curve[k].Rate = max(curve[k].Rate, curve[k-1].Rate)
	}
	return curve, true
}

func last(curve []perf.CPURate) perf.CPURate {
	if len(curve) == 0 {
		return perf.CPURate{}
	}
	return curve[len(curve)-1]
}

// Sensitivity returns the estimate of how CPUs and host memory limit the job's speed; nil if unknown. It is
// immutable.
func (j *Job) Sensitivity() *perf.Sensitivity { return j.input.known }
