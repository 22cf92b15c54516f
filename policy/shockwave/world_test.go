package shockwave_test

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// byType is a model: progress per second by GPU type.
type byType map[cluster.GPUType]float64

func (m *byType) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return (*m)[a.GPUType] }
func (*byType) Efficiency(float64) float64                                 { return 1 }

func (*byType) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
