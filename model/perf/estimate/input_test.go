package estimate_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
)

// A fed job has GPUs that take in so many samples per second, by type, and a
// pipeline that feeds them; a pass is of one sample.
type fed struct {
	takes    map[cluster.GPUType]float64
	pipeline perf.Sensitivity
	spec     job.Spec
}

// both are the types of the tests, with as many CPUs per node.
var both = []cluster.TypeInfo{{Type: "v100", PerNode: 8, Share: cluster.Resources{GPUs: 1, CPUs: 3, Memory: 10}}, {Type: "h100", PerNode: 8, Share: cluster.Resources{GPUs: 1, CPUs: 3, Memory: 10}}}

func newFed(v100, h100 float64, curve ...perf.CPURate) *fed {
	f := &fed{takes: map[cluster.GPUType]float64{"v100": v100, "h100": h100}, pipeline: perf.Sensitivity{CPUs: curve, Input: job.Input{Dataset: 40, Storage: 0.5}}}
	f.spec = job.Spec{ID: "a", GPUs: 1, Input: f.pipeline.Input, Batch: job.BatchLimits{Init: 1, Max: 1, LocalMin: 1}}
	return f
}

// rate returns the samples per second of each GPU of an allocation.
func (f *fed) rate(a cluster.Allocation) float64 {
	gpus := float64(a.GPUs)
	return math.Min(f.takes[a.GPUType], f.pipeline.Rate(a.CPUs/gpus, a.Memory/int64(a.GPUs)))
}

func (f *fed) report(a cluster.Allocation) *job.Report {
	step := time.Duration(float64(time.Second) / f.rate(a))
	return &job.Report{Job: f.spec.ID, Configuration: a.Configuration, CPUs: a.CPUs, Memory: a.Memory, Batch: job.BatchSize{Local: 1}, StepTime: step}
}

// profiled returns what is learned of the job by a search over 24 CPUs and 80
// bytes of memory on one GPU of each type, in order.
func (f *fed) profiled(types ...cluster.GPUType) *estimate.Job {
	j := estimate.New(&f.spec, &estimate.Options{Types: both})
	for _, t := range types {
		s := perf.NewCPUSearch(24)
		for c, ok := s.Next(); ok; c, ok = s.Next() {
			r := f.report(holding(t, 1, float64(c), 80))
			r.Profile = true
			s.Learn(c, 1/r.StepTime.Seconds())
			j.Learn(r)
		}
	}
	return j
}

func holding(t cluster.GPUType, gpus int, cpus float64, memory int64) cluster.Allocation {
	c := cluster.Configuration{Nodes: (gpus + 7) / 8, GPUs: gpus, GPUType: t}
	return cluster.Allocation{Configuration: c, CPUs: cpus, Memory: memory}
}

func believed(j *estimate.Job, a cluster.Allocation) float64 {
	m, _ := j.Model()
	return m.Throughput(a, job.BatchSize{Local: 1})
}

// Synergy §5.1: jobs of 1 to 16 GPUs; nothing but one GPU was measured.
func TestInput_throughput_is_linear_after_profiling(t *testing.T) {
	f := newFed(2, 6, perf.CPURate{CPUs: 3, Rate: 1}, perf.CPURate{CPUs: 24, Rate: 8})
	for _, order := range [][]cluster.GPUType{{"v100"}, {"v100", "h100"}, {"h100", "v100"}} {
		j := f.profiled(order...)
		for _, gpu := range order {
			for _, gpus := range []int{1, 2, 4, 8, 16} {
				for _, a := range []cluster.Allocation{
					holding(gpu, gpus, 24*float64(gpus), 80*int64(gpus)), holding(gpu, gpus, 3*float64(gpus), 80*int64(gpus)), holding(gpu, gpus, 24*float64(gpus), 10*int64(gpus)),
				} {
					want := float64(gpus) * f.rate(a)
					if got := believed(j, a); math.Abs(got/want-1) > 0.01 {
						t.Errorf("profiled on %v, %v: believed %g samples/s, want %g", order, a, got, want)
					}
				}
			}
		}
	}
}

// A v100 takes in no more than 2 samples/s from 6 CPUs on. That is no limit on an
// h100, nor does what it can take in hide what the CPUs prepare.
func TestInput_a_slow_type_does_not_flatten_the_curve(t *testing.T) {
	f := newFed(2, 6, perf.CPURate{CPUs: 24, Rate: 8})
	for _, order := range [][]cluster.GPUType{{"v100", "h100"}, {"h100", "v100"}} {
		j := f.profiled(order...)
		for _, gpu := range both {
			for cpus := 1.0; cpus <= 24; cpus++ {
				a := holding(gpu.Type, 1, cpus, 80)
				if got, want := believed(j, a), f.rate(a); math.Abs(got/want-1) > 0.1 { // an h100's knee is at 18 CPUs
					t.Errorf("profiled on %v, %v: believed %g samples/s, want %g", order, a, got, want)
				}
			}
		}
	}
}

// The curve is never above what was measured, nor a type's throughput below it,
// whatever the types and the order of their runs.
func TestInput_agrees_with_all_that_was_measured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var curve []perf.CPURate
		rate := 0.0
		for c := 2.0; c <= 24; c += float64(rapid.IntRange(1, 6).Draw(t, "more CPUs")) {
			rate += rapid.Float64Range(0.01, 2).Draw(t, "more samples/s")
			curve = append(curve, perf.CPURate{CPUs: c, Rate: rate})
		}
		takes := rapid.Float64Range(0.1, 10)
		f := newFed(takes.Draw(t, "v100"), takes.Draw(t, "h100"), curve...)
		order := rapid.Permutation([]cluster.GPUType{"v100", "h100"}).Draw(t, "order")
		j := f.profiled(order...)
		fastest := order[0]
		if f.rate(holding(order[1], 1, 24, 80)) > f.rate(holding(order[0], 1, 24, 80)) {
			fastest = order[1]
		}
		for _, p := range j.Sensitivity().CPUs {
			a := holding(fastest, 1, p.CPUs, 80)
			if got, want := believed(j, a), f.rate(a); math.Abs(got/want-1) > 1e-6 {
				t.Fatalf("%v: believed %g samples/s, measured %g", a, got, want)
			}
		}
		for _, gpu := range order {
			a := holding(gpu, 1, 24, 80)
			if got, want := believed(j, a), f.rate(a); math.Abs(got/want-1) > 1e-6 {
				t.Fatalf("%v: believed %g samples/s, measured %g", a, got, want)
			}
		}
	})
}

// What a job does while it waits for input says nothing of its GPUs; what it does
// when it gets all that they take in, or less than its input delivers, does.
func TestInput_training_reports(t *testing.T) {
	f := newFed(2, 6, perf.CPURate{CPUs: 24, Rate: 8})
	for _, c := range []struct {
		name  string
		alloc cluster.Allocation
		slow  float64 // times as long a step
		want  float64 // believed samples/s of 8 v100s with all CPUs, after that
	}{
		{"starved of CPUs", holding("v100", 8, 24, 640), 1, 16},
		{"starved of memory", holding("v100", 8, 192, 80), 1, 16},
		{"fed, and as fast as expected", holding("v100", 8, 192, 640), 1, 16},
		{"fed, but slowed down by its exchange", holding("v100", 8, 192, 640), 1.6, 10},
		{"slower than its input", holding("v100", 8, 24, 640), 4, 2},
		{"starved on a type that was never profiled", holding("h100", 8, 24, 640), 1, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := f.profiled("v100")
			r := f.report(c.alloc)
			r.StepTime = time.Duration(c.slow * float64(r.StepTime))
			r.SyncTime = r.StepTime - min(r.StepTime, f.report(c.alloc).StepTime)
			j.Learn(r)
			if got := believed(j, holding("v100", 8, 192, 640)); math.Abs(got/c.want-1) > 0.01 {
				t.Errorf("believed %g samples/s, want %g", got, c.want)
			}
		})
	}
}

// Nothing new is no new belief.
func TestInput_the_same_report_again_changes_nothing(t *testing.T) {
	f := newFed(2, 6, perf.CPURate{CPUs: 24, Rate: 8})
	j := f.profiled("v100", "h100")
	before, known := j.Sensitivity(), func() *estimate.Model { m, _ := j.Model(); return m }()
	r := f.report(holding("v100", 1, 3, 80))
	r.Profile = true
	j.Learn(r)
	if m, _ := j.Model(); j.Sensitivity() != before || m != known {
		t.Error("another belief, want the same")
	}
}
