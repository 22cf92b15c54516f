package perf

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
)

// TryAll is BestBatch by trying all candidates.
func TryAll(m Model, a cluster.Allocation, replicas int, limits *job.BatchLimits) (float64, job.BatchSize) {
	all := list(make([]candidate, 0, Candidates), scopeOf(replicas, a.GPUType, limits))
	s := search{model: m, alloc: a, candidates: all, choice: Candidates}
	for i := range all {
		s.try(i)
	}
	if s.best == 0 {
		return 0, job.BatchSize{}
	}
	return s.best, all[s.choice].batch
}
