package perf

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// TryAll is BestBatch by trying all candidates.
func TryAll(m Model, a cluster.Allocation, replicas int, limits *job.BatchLimits) (float64, job.BatchSize) {
	s := search{model: m, alloc: a, choice: Candidates}
	s.n = len(list(s.candidates[:0], scopeOf(replicas, a.GPUType, limits)))
	for i := range s.n {
		s.try(i)
	}
	if s.best == 0 {
		return 0, job.BatchSize{}
	}
	return s.best, s.candidates[s.choice].batch
}
