package estimate

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A Model is the performance model of one job, estimated at a certain time. It implements perf.Model and is immutable.
type Model struct {
	types  []typeModel
	oracle Throughput
	like   perf.Model // true model, the source of oracle; nil: unknown
	mode   Mode
	goal   job.Goal
	init   float64 // initial batch size B0, in samples
	phi    float64 // preconditioned gradient noise scale, in samples
	input  *perf.Sensitivity
	wrong  *Options // options with an artificial error of estimates for the jobs of class; nil: no error
	class  string
	// lacking is 1 minus the trust in the reports of the job, 0 to 1.
	lacking float64
}

type typeModel struct {
	name      cluster.GPUType
	params    perf.Params
	known     bool // params are fitted to measurements on this type
	replica   int
	perNode   int
	lender    int     // index of the type whose scaling is used; its own index if none
	reference float64 // throughput of one replica before any measurement
	ratio     float64 // factor on the lender's throughput if params are unknown
}

// Params returns the parameters of the throughput model that were fitted on a GPU type; false if there are none.
func (m *Model) Params(t cluster.GPUType) (perf.Params, bool) {
	if tm := m.find(t); tm != nil {
		return tm.params, tm.known
	}
	return perf.Params{}, false
}

// Knows reports whether the throughput on a GPU type was measured, or comes from the simulation (mode Oracle).
func (m *Model) Knows(t cluster.GPUType) bool {
	tm := m.find(t)
	return m.oracle != nil || tm != nil && tm.known
}

// Same reports whether m and other are known to predict the same speed for every allocation and batch size.
func (m *Model) Same(other perf.Model) bool {
	o, ok := other.(*Model)
	switch {
	case !ok:
		return false
	case m == o:
		return true
	case m.mode != o.mode || m.goal != o.goal || m.init != o.init || m.phi != o.phi || m.input != o.input || m.lacking != o.lacking:
		return false
	case m.wrong != o.wrong || m.class != o.class || !slices.Equal(m.types, o.types):
		return false
	case m.oracle == nil:
		return o.oracle == nil
	}
	return o.oracle != nil && perf.Same(m.like, o.like)
}

func (m *Model) find(t cluster.GPUType) *typeModel {
	for i := range m.types {
		if m.types[i].name == t {
			return &m.types[i]
		}
	}
	return nil
}

// Throughput returns samples per second: the speed of the GPUs, limited by CPUs and memory if the allocation states
// them. If Options.Error is set, it is multiplied by Options.Factor.
func (m *Model) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	speed := m.fed(a, b)
	if m.lacking > 0 && speed > 0 {
		speed *= doubted(m.lacking, m.replicas(&a))
	}
	if m.wrong == nil || speed == 0 {
		return speed
	}
	return speed * m.wrong.factor(m.class, a.Configuration)
}

func (m *Model) replicas(a *cluster.Allocation) int {
	if t := m.find(a.GPUType); t != nil {
		return a.GPUs / t.replica
	}
	return a.GPUs
}

func (m *Model) fed(a cluster.Allocation, b job.BatchSize) float64 {
	taken := m.taken(a, b)
	if m.input == nil || a.CPUs == 0 || taken == 0 {
		return taken
	}
	gpus := float64(a.GPUs)
	return math.Min(taken, gpus*m.input.Rate(a.CPUs/gpus, a.Memory/int64(a.GPUs)))
}

// taken returns the throughput of GPUs that never wait for input. On a type without multi-GPU
// measurements it is the bootstrapped estimate: the type's own one-GPU throughput times the
// speed-up of the lender. Source: Sia §3.3.2, Eq. 3.1.
func (m *Model) taken(a cluster.Allocation, b job.BatchSize) float64 {
	if m.oracle != nil {
		return m.oracle(a, b)
	}
	t := m.find(a.GPUType)
	if t == nil || b.Local <= 0 || a.GPUs < t.replica {
		return 0
	}
	replicas := a.GPUs / t.replica
	samples := float64(replicas * b.PerReplica())
	l := &m.types[t.lender]
	if l == t {
		if !t.known && replicas == 1 {
			return t.reference
		}
		if !t.known {
			return 0
		}
		return samples / t.params.Iteration(a.Nodes, replicas, b)
	}
	if t.known && replicas == 1 {
		return samples / t.params.Iteration(a.Nodes, 1, b)
	}
	lent := samples / l.params.Iteration(nodes(replicas*l.replica, l.perNode), replicas, b)
	switch {
	case !t.known && m.mode == NoProf && replicas > 1:
		return 0 // Eq. 3.1 needs a one-GPU profile
	case !t.known:
		return t.ratio * lent
	}
	return lent * l.params.Iteration(1, 1, b) / t.params.Iteration(1, 1, b)
}

func nodes(gpus, perNode int) int { return (gpus + perNode - 1) / max(1, perNode) }

// Efficiency implements perf.Model.
func (m *Model) Efficiency(batch float64) float64 {
	if m.goal != job.Training || math.IsInf(m.phi, 1) {
		return 1
	}
	return perf.Efficiency(m.phi, m.init, batch)
}

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
