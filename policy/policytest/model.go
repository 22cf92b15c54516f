package policytest

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// A Model is a perf.Model computed from given parameters, for tests.
type Model struct {
	Params map[cluster.GPUType]perf.Params
	GPUs   map[cluster.GPUType]int // GPUs per replica, by type; default 1
	Phi    float64                 // gradient noise scale, in samples
	Init   float64                 // initial batch size, in samples
	// Sensitivity limits throughput by CPUs; nil: unlimited.
	Sensitivity *perf.Sensitivity
}

// Throughput implements perf.Model.
func (m *Model) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	p, ok := m.Params[a.GPUType]
	replicas := a.GPUs / max(1, m.GPUs[a.GPUType])
	if !ok || replicas < 1 || b.Local < 1 {
		return 0
	}
	taken := float64(replicas*b.PerReplica()) / p.Iteration(a.Nodes, replicas, b)
	if m.Sensitivity == nil || a.CPUs == 0 {
		return taken
	}
	return min(taken, float64(a.GPUs)*m.Sensitivity.Rate(a.CPUs/float64(a.GPUs), a.Memory/int64(a.GPUs)))
}

// Efficiency implements perf.Model.
func (m *Model) Efficiency(batch float64) float64 { return perf.Efficiency(m.Phi, m.Init, batch) }

// StepTime implements perf.Model.
func (m *Model) StepTime(a cluster.Allocation) perf.StepTime {
	if m.Sensitivity != nil && a.CPUs > 0 {
		return perf.StepTime{}
	}
	p := m.Params[a.GPUType]
	return p.StepTime()
}
