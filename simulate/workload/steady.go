package workload

import (
	"cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Steady returns the application of a job that requests gpus GPUs and has a known duration but no known speed. It
// processes (GPUs held) / gpus samples per second on any GPU type, so a second of the duration is one sample.
func Steady(gpus int) *Application {
	return steadyOf(steady{gpus: max(1, gpus)})
}

// Steady is the function Steady with the job's Equivalents, ScalingLoss and MixedSpeed.
func (a *Arrival) Steady() *Application {
	s := steady{gpus: max(1, a.Spec.GPUs), equivalents: a.Spec.Equivalents, loss: a.ScalingLoss}
	app := steadyOf(s)
	app.Mixed = func(on *cluster.Allocation) float64 { return s.mixed(&a.Spec, on) }
	return app
}

// A Steadies caches the applications that the function Steady makes, one for all jobs that are alike. The zero value is
// ready to use.
type Steadies struct{ known map[alike]*Application }

type alike struct {
	gpus int
	loss float64
}

// Of returns Arrival.Steady for a job with this specification and loss. Calls with equal arguments get the same
// pointer, except for Heterogeneous jobs and jobs with Equivalents. The field Mixed is nil unless the job is Heterogeneous.
func (s *Steadies) Of(spec *job.Spec, loss float64) *Application {
	if spec.Equivalents != nil || spec.Adaptivity.Has(job.Heterogeneous) {
		return (&Arrival{Spec: *spec, ScalingLoss: loss}).Steady()
	}
	k := alike{max(1, spec.GPUs), loss}
	app := s.known[k]
	if app == nil {
		app = steadyOf(steady{gpus: k.gpus, loss: k.loss})
		if s.known == nil {
			s.known = make(map[alike]*Application)
		}
		s.known[k] = app
	}
	return app
}

// Work returns the true work, in samples, of a job with a known duration and no known speed. For other jobs it returns
// 0; their Spec.Target is true.
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

type steady struct {
	gpus        int
	equivalents map[cluster.GPUType]int // GPUs that count as one; nil: 1
	loss        float64                 // of each GPU beyond gpus
}

func (s steady) Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	if _, most := s.LocalRange(t, shape); local < 1 || local > most {
		return 0, 0, false
	}
	each := max(1, s.equivalents[t])
	held := 0.0
	for _, n := range shape {
		held += float64(n) / float64(each)
	}
	return float64(s.gpus*local*each) * s.slower(held), 0, true
}

func (s steady) mixed(spec *job.Spec, on *cluster.Allocation) float64 {
	held := spec.Worth(on)
	rate := held / float64(s.gpus) / s.slower(held) * cmp.Or(spec.MixedSpeed, 1)
	return float64(on.AllGPUs()) / rate
}

func (s steady) slower(held float64) float64 {
	asked := float64(s.gpus)
	if s.loss == 0 || held <= asked {
		return 1
	}
	return held / (asked + (1-s.loss)*(held-asked))
}

func (s steady) LocalRange(_ cluster.GPUType, shape []int) (least, most int) {
	for _, n := range shape {
		if n > 0 {
			return 1, 1
		}
	}
	return 0, 0
}
