package estimate

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// An input is what is learned of a job's input pipeline: its CPU curve, from
// profiling runs with all the memory of a node. The memory axis follows from the
// job's Spec. Source: Synergy §3.1.
//
// A GPU that is fed faster than it takes samples in shows its own speed, which
// says of the CPUs only that they prepare no less. So a type tells what they
// prepare where it is slower than with all of them; and the type on which the
// highest rate was measured also where its curve is flat, as no other takes in
// more. The one curve that comes of it is the third axis that Synergy §6,
// "Homogeneous clusters", asks for: a type's throughput is the lesser of it and
// of what its GPUs take in.
type input struct {
	curves [][]perf.CPURate  // parallel to Options.Types, by ascending CPUs; rates do not fall
	known  *perf.Sensitivity // of all curves; nil: nothing is known
}

// starved is how near to what its input delivers a job has to train for its step
// time to say nothing of its GPUs, and how far below what its GPUs take in for it
// to say what its input delivers.
const starved = 0.95

// learnInput takes in what a report says of CPUs, and reports whether it says
// something of GPUs too: not if the job waited for its input. Of the profiling
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

// feeds reports whether a rate is all that a GPU of type i took in when profiled.
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

// combined returns the curve that all types tell of.
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

// raise returns a curve with one more point, and whether that changed it: more
// CPUs do not prepare less. It may modify the curve.
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
