package policytest

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
)

// A Model is an analytic perf.Model: parameters of the throughput model by GPU
// type, and a gradient noise scale.
type Model struct {
	Params map[cluster.GPUType]perf.Params
	GPUs   map[cluster.GPUType]int // of one replica; a missing type means 1
	Phi    float64                 // gradient noise scale, samples
	Init   float64                 // initial batch size, samples
}

// Throughput implements perf.Model.
func (m *Model) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	p, ok := m.Params[a.GPUType]
	replicas := a.GPUs / max(1, m.GPUs[a.GPUType])
	if !ok || replicas < 1 || b.Local < 1 {
		return 0
	}
	return float64(replicas*b.PerReplica()) / p.Iteration(a.Nodes, replicas, b)
}

// Efficiency implements perf.Model.
func (m *Model) Efficiency(batch float64) float64 { return perf.Efficiency(m.Phi, m.Init, batch) }
