package perf_test

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// fitted is the simplest Model: one set of parameters for all GPU types, one
// GPU a replica, one noise scale.
type fitted struct {
	perf.Params
	phi, init float64
}

func (m *fitted) Throughput(a cluster.Allocation, b job.BatchSize) float64 {
	return float64(a.GPUs*b.PerReplica()) / m.Iteration(a.Nodes, a.GPUs, b)
}

func (m *fitted) Efficiency(total float64) float64 { return perf.Efficiency(m.phi, m.init, total) }

func (m *fitted) StepTime(cluster.Allocation) perf.StepTime { return m.Params.StepTime() }

func on(nodes, gpus int, t cluster.GPUType) cluster.Allocation {
	return cluster.Allocation{Configuration: cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: t}}
}
