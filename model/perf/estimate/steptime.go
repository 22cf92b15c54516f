package estimate

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/perf"
)

// StepTime returns bounds on the time of an optimiser step. It returns the zero value (unknown) in mode Oracle without
// Options.Like, for jobs whose GPUs may wait for input data, and without fitted parameters.
func (m *Model) StepTime(a cluster.Allocation) perf.StepTime {
	s := m.plainStepTime(a)
	if s == (perf.StepTime{}) {
		return s
	}
	slower := 1.0 // further factors of Throughput
	if m.lacking > 0 {
		slower /= doubted(m.lacking, m.replicas(&a))
	}
	if m.wrong != nil {
		slower /= m.wrong.factor(m.class, a.Configuration)
	}
	s.Compute = scaled(s.Compute, slower)
	return s
}

func (m *Model) plainStepTime(a cluster.Allocation) perf.StepTime {
	t := m.find(a.GPUType)
	switch {
	case m.input != nil && a.CPUs != 0:
		return perf.StepTime{}
	case m.like != nil:
		return m.like.StepTime(a)
	case m.oracle != nil || t == nil || a.GPUs < t.replica:
		return perf.StepTime{}
	}
	return m.stepTime(t, a.GPUs/t.replica)
}

func (m *Model) stepTime(t *typeModel, replicas int) perf.StepTime {
	l := &m.types[t.lender]
	own, lent := t.params.StepTime(), l.params.StepTime()
	switch {
	case l == t && !t.known || !t.known && m.mode == NoProf && replicas > 1:
		return perf.StepTime{}
	case l == t || t.known && replicas == 1:
		return own
	case !t.known:
		lent.Compute = scaled(lent.Compute, 1/t.ratio)
		return lent
	}
	// The time is the lender's, times the ratio of their one-replica steps. One replica exchanges
	// nothing, so its step is its passes (plus tiny).
	own.Exchange = lent.Exchange
	own.Slack = tiny/own.Compute.At(1) + tiny/lent.Exchange.At(1)
	return own
}

// tiny is perf.Params.Network of one replica, in seconds.
const tiny = 1e-8

func scaled(l perf.Line, by float64) perf.Line {
	return perf.Line{Base: l.Base * by, Slope: l.Slope * by}
}
