package workload

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
)

// Steady returns the application of a job that asked for so many GPUs and is
// known only by its duration: on GPUs of any type it makes (GPUs held) /
// (GPUs asked for) samples a second, and a second of its duration is one
// sample. Jobs that ask for equally many GPUs may share it.
func Steady(gpus int) *Application {
	return steadyOf(steady{gpus: max(1, gpus)})
}

// Steady returns the application of an arrival that is known only by its duration: as
// Steady of the GPUs it asks for, where job.Spec.Equivalents of a type count as one GPU, and
// each GPU beyond what was asked for adds less by ScalingLoss.
func (a *Arrival) Steady() *Application {
	return steadyOf(steady{gpus: max(1, a.Spec.GPUs), equivalents: a.Spec.Equivalents, loss: a.ScalingLoss})
}

// Work returns the samples after which an arrival that is known only by its duration has
// ended, one for each second. 0: it says no duration, and Spec.Target is right.
func (a *Arrival) Work() float64 {
	if a.Application != "" {
		return 0
	}
	return a.Duration.Seconds()
}

func steadyOf(s steady) *Application {
	return &Application{
		Batch:        job.BatchLimits{Init: 1, Max: 1, LocalMin: 1},
		RestartDelay: DefaultRestartDelay,
		StatedDelay:  DefaultRestartDelay,
		Slowdown:     1,
		Speed:        s,
	}
}

// steady is a linear speed-up relative to gpus GPUs, and a slower one beyond.
type steady struct {
	gpus        int
	equivalents map[cluster.GPUType]int // that count as one GPU; nil: 1
	loss        float64                 // of each GPU beyond gpus
}

// Step implements Speed: a replica takes gpus seconds a sample, and longer beyond gpus of
// them.
func (s steady) Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	if _, most := s.LocalRange(t, shape); local < 1 || local > most {
		return 0, 0, false
	}
	each := max(1, s.equivalents[t])
	return float64(s.gpus*local*each) * s.slower(shape, each), 0, true
}

// slower returns how many times as long GPUs take as at linear speed, each so many of which
// count as one.
func (s steady) slower(shape []int, each int) float64 {
	held := 0.0
	for _, n := range shape {
		held += float64(n) / float64(each)
	}
	asked := float64(s.gpus)
	if s.loss == 0 || held <= asked {
		return 1
	}
	return held / (asked + (1-s.loss)*(held-asked))
}

// LocalRange implements Speed.
func (s steady) LocalRange(_ cluster.GPUType, shape []int) (least, most int) {
	for _, n := range shape {
		if n > 0 {
			return 1, 1
		}
	}
	return 0, 0
}
