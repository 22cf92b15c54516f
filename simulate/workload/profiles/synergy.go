package profiles

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"

	"github.com/oxgang/oxgang/simulate/workload"
)

// A fedApplication is an application measured on one GPU with different amounts of CPUs and memory. With enough CPUs it
// never waits for input. A sample is an iteration on one GPU, equally fast on one node or several. Source: public
// Synergy profiles, whose penalty for GPUs of several nodes is 1.
type fedApplication struct {
	Name  string
	Input perf.Sensitivity
}

// measuredOn is the GPU type on which the public sensitivity profiles were measured. Source: Synergy §5.1.
const measuredOn = cluster.GPUType("v100")

func (f *fedApplication) rate() float64 { return f.Input.CPUs[len(f.Input.CPUs)-1].Rate }

// Application builds the application for GPUs of a type.
func (f *fedApplication) Application(t cluster.GPUType) *workload.Application {
	input := f.Input
	input.CPUs = slices.Clone(input.CPUs)
	return &workload.Application{
		Name:         f.Name,
		Batch:        job.BatchLimits{Init: 1, Max: 1, LocalMin: 1, LocalMax: map[cluster.GPUType]int{t: 1}},
		RestartDelay: workload.DefaultRestartDelay,
		StatedDelay:  workload.DefaultRestartDelay,
		Slowdown:     1,
		Speed:        paced{gpuType: t, rate: f.rate()},
		Sensitivity:  &input,
	}
}

// The GPU-proportional share of the profiled servers. Source: Synergy §5.1.
const (
	profiledCPUs   = 3      // per GPU
	profiledMemory = 62.5e9 // bytes per GPU
)

// ProfiledRates returns the speed of each embedded Synergy application in samples per second and GPU, with CPUs and
// memory proportional to GPUs.
func ProfiledRates() map[string]float64 {
	rates := make(map[string]float64, len(fedApplications))
	for i := range fedApplications {
		f := &fedApplications[i]
		rates[f.Name] = math.Min(f.rate(), f.Input.Rate(profiledCPUs, profiledMemory))
	}
	return rates
}

type paced struct {
	gpuType cluster.GPUType
	rate    float64
}

func (p paced) Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	if least, most := p.LocalRange(t, shape); local < least || local > most {
		return 0, 0, false
	}
	return float64(local) / p.rate, 0, true
}

func (p paced) LocalRange(t cluster.GPUType, shape []int) (least, most int) {
	if _, _, gpus := summarise(shape); t != p.gpuType || gpus == 0 {
		return 0, 0
	}
	return 1, 1
}
