package workload

import (
	"cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Steady returns the application of a job that asked for a number of GPUs and is
// known only by its duration. A second of its duration is one sample: on GPUs of any
// type it makes (GPUs held) / (GPUs asked for) samples a second. Jobs that ask for the
// same number of GPUs may share it.
func Steady(gpus int) *Application {
	return steadyOf(steady{gpus: max(1, gpus)})
}

// Steady returns the application of an arrival that is known only by its duration. It is
// the function Steady of the GPUs it asks for, with three differences: of each type,
// job.Spec.Equivalents GPUs count as one; each GPU beyond those asked for adds less, by
// ScalingLoss; and on GPUs of two types it runs at its MixedSpeed.
func (a *Arrival) Steady() *Application {
	s := steady{gpus: max(1, a.Spec.GPUs), equivalents: a.Spec.Equivalents, loss: a.ScalingLoss}
	app := steadyOf(s)
	app.Mixed = func(on *cluster.Allocation) float64 { return s.mixed(&a.Spec, on) }
	return app
}

// Steadies keeps the applications of arrivals that are known only by their duration: those that ask for as many GPUs have one. The
// zero value is ready. It is not safe for concurrent use.
type Steadies struct{ known map[alike]*Application }

// alike is what such an application depends on, of a job that runs on GPUs of one type that all count as one.
type alike struct {
	gpus int
	loss float64
}

// Of returns what Arrival.Steady does of an arrival with a specification and a ScalingLoss. Of arrivals that are alike it is the same
// pointer; if they run on GPUs of one type only, it has no Mixed.
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

// Work returns the true work, in samples, of an arrival that is known only by its duration: one
// sample for each second. It returns 0 if there is no duration; then Spec.Target is true.
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
	held := 0.0
	for _, n := range shape {
		held += float64(n) / float64(each)
	}
	return float64(s.gpus*local*each) * s.slower(held), 0, true
}

// mixed returns the seconds of a pass of one sample per GPU of two types.
func (s steady) mixed(spec *job.Spec, on *cluster.Allocation) float64 {
	held := spec.Worth(on)
	rate := held / float64(s.gpus) / s.slower(held) * cmp.Or(spec.MixedSpeed, 1)
	return float64(on.AllGPUs()) / rate
}

// slower returns how many times longer GPUs, worth held, take than at linear speed-up.
func (s steady) slower(held float64) float64 {
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
