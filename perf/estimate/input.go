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
// A GPU that is fed faster than it takes samples in shows its own speed, a bound
// from below of what its CPUs prepare. So the type on which the highest rate was
// measured speaks for all: it has measured every rate that another takes in, and
// where its own curve is flat, no other type is faster. Its curve is the third
// axis of the matrix that Synergy §6, "Homogeneous clusters", asks for: a type's
// throughput is the lesser of this curve and of its own without a limit on CPUs.
type input struct {
	curves [][]perf.CPURate  // parallel to Options.Types, by ascending CPUs; rates do not fall
	known  *perf.Sensitivity // of all curves; nil: nothing is known
}

// starved is how near to what its input delivers a job has to train for its step
// time to say nothing of its GPUs.
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

// addPoint raises the curve of type i to a measured point; more CPUs do not
// prepare less.
func (j *Job) addPoint(i int, p perf.CPURate) {
	if j.input.curves == nil {
		j.input.curves = make([][]perf.CPURate, len(j.types))
	}
	curve := slices.Clone(j.input.curves[i])
	at, found := slices.BinarySearchFunc(curve, p.CPUs, func(q perf.CPURate, cpus float64) int { return cmp.Compare(q.CPUs, cpus) })
	switch {
	case !found:
		curve = slices.Insert(curve, at, p)
	case curve[at].Rate >= p.Rate:
		return
	}
	curve[at].Rate = p.Rate
	for k := 1; k < len(curve); k++ {
		curve[k].Rate = max(curve[k].Rate, curve[k-1].Rate)
	}
	j.input.curves[i], j.model = curve, nil
	fastest := slices.MaxFunc(j.input.curves, func(a, b []perf.CPURate) int { return cmp.Compare(last(a).Rate, last(b).Rate) })
	j.input.known = &perf.Sensitivity{CPUs: fastest, Input: j.spec.Input}
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
