// This file gives applications an assumed speed on GPU types without profiles.

package workload

import (
	"maps"
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
)

// A Likeness describes a GPU type without measured speeds by a measured type. The new type computes Speed times as
// fast; gradient exchange, memory and input pipeline are equal.
type Likeness struct {
	Type, Like cluster.GPUType
	Speed      float64 // more than 0
}

// Extrapolate returns catalog c with additional GPU types, added in order. An application that runs on the measured
// type also runs on the new one. The result shares data with c.
func Extrapolate(c Catalog, all []Likeness) Catalog {
	if len(all) == 0 {
		return c
	}
	wider := Catalog{}
	for name, app := range c {
		a := *app
		a.Batch.LocalMax = maps.Clone(app.Batch.LocalMax)
		a.GPUsPerReplica = maps.Clone(app.GPUsPerReplica)
		speed := scaled{app.Speed, slices.Clone(all)}
		for _, l := range all {
			also(a.Batch.LocalMax, l)
			also(a.GPUsPerReplica, l)
		}
		a.Speed, a.Sensitivity = speed, feeding(app.Sensitivity, speed.fastest(a.Batch.LocalMax))
		wider[name] = &a
	}
	return wider
}

// feeding returns the input pipeline of a GPU that computes speed times as fast. Beyond the measured rate, the
// rate is assumed proportional to CPUs.
func feeding(s *perf.Sensitivity, speed float64) *perf.Sensitivity {
	if s == nil || len(s.CPUs) == 0 || speed <= 1 {
		return s
	}
	more, last := *s, s.CPUs[len(s.CPUs)-1]
	more.CPUs = slices.Clone(s.CPUs)
	for c := last.CPUs; c < last.CPUs*speed; {
		c = min(math.Ceil(c*4/3), last.CPUs*speed)
		more.CPUs = append(more.CPUs, perf.CPURate{CPUs: c, Rate: last.Rate * c / last.CPUs})
	}
	return &more
}

func also(m map[cluster.GPUType]int, l Likeness) {
	if v, ok := m[l.Like]; ok {
		m[l.Type] = v
	}
}

type scaled struct {
	Speed
	all []Likeness
}

func (a scaled) resolve(t cluster.GPUType) (profiled cluster.GPUType, speed float64) {
	speed = 1
	for _, l := range slices.Backward(a.all) {
		if l.Type == t {
			t, speed = l.Like, speed*l.Speed
		}
	}
	return t, speed
}

func (a scaled) fastest(on map[cluster.GPUType]int) float64 {
	most := 1.0
	for _, l := range a.all {
		if _, ok := on[l.Type]; ok {
			_, speed := a.resolve(l.Type)
			most = max(most, speed)
		}
	}
	return most
}

func (a scaled) Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	t, speed := a.resolve(t)
	step, sync, ok = a.Speed.Step(t, shape, local)
	return sync + (step-sync)/speed, sync, ok
}

func (a scaled) LocalRange(t cluster.GPUType, shape []int) (least, most int) {
	t, _ = a.resolve(t)
	return a.Speed.LocalRange(t, shape)
}
