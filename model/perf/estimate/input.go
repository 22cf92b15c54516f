package estimate

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// An input is what is learned of a job's input pipeline: its CPU curve, from
// profiling runs with all the memory of a node. The effect of memory follows from
// the job's Spec. Source: Synergy §3.1.
//
// There is one curve for all GPU types: samples per second against CPUs. A
// measurement shows the lesser of two rates: what the CPUs prepare, and what the GPU
// can process. So it is a point of the curve only if the CPUs are the slower part.
// That is so where the job is slower than with all CPUs. On other points of a flat
// curve the GPU is the limit, except on the type with the highest rate of all, which
// no other type exceeds. This curve is the third axis that Synergy §6, "Homogeneous
// clusters", asks for: the throughput on a type is the lesser of the curve and of what
// its GPUs can process.
type input struct {
	curves [][]perf.CPURate  // parallel to Options.Types, by ascending CPUs; rates do not fall
	known  *perf.Sensitivity // of all curves; nil: nothing is known
}

// starved separates the two limits. A job whose rate is at least this part of what its
// input delivers waits for input: its step time says nothing about its GPUs. A job
// whose rate is below this part of what its GPUs can process shows what its input
// delivers.
const starved = 0.95

// learnInput records what a report says about CPUs. It reports whether the report also says
// something about GPUs, which it does not if the job waited for input. Among the profiling
// runs of a type, those with the most CPUs must come first.
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

// feeds reports whether a rate is about the highest of GPU type i when it was profiled.
func (in *input) feeds(i int, rate float64) bool {
	return in.curves != nil && len(in.curves[i]) > 0 && rate >= last(in.curves[i]).Rate
}

// addPoint raises the curve of type i to a measured point.
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

// combined returns the one curve that follows from the curves of all types.
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

// raise returns a curve with one more point, and whether that changed it. It keeps the
// curve from falling: more CPUs do not prepare less. It may modify the curve.
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

// last returns the point of a curve with the most CPUs; the zero point if there
// is none.
func last(curve []perf.CPURate) perf.CPURate {
	if len(curve) == 0 {
		return perf.CPURate{}
	}
	return curve[len(curve)-1]
}

// Sensitivity returns what is believed of CPUs and memory; nil if nothing is
// known. It is immutable.
func (j *Job) Sensitivity() *perf.Sensitivity { return j.input.known }
