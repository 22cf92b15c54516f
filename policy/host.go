package policy

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// FillProportional gives the GPU-proportional share of CPUs and memory to every allocation that
// says nothing of them on a GPU type whose nodes count them. So a policy that does not consider
// CPUs grants what today's schedulers grant. Allocations of two GPU types are left alone, and those that a job keeps as it
// has them: it may run without a share, taken over from a leader whose plan is lost, and its placement has none either.
// Source: Synergy §2.
func FillProportional(s *Snapshot, p *Plan) {
	counts := func(t cluster.TypeInfo) bool { return t.Counts() }
	if p == nil || !slices.ContainsFunc(s.Cluster.Types(), counts) {
		return
	}
	for i := range p.Jobs {
		a := &p.Jobs[i].Allocation
		if a.GPUs == 0 || a.CPUs > 0 || a.Memory > 0 || a.Mixed() || i < len(s.Jobs) && *a == s.Jobs[i].Allocation {
			continue
		}
		if t, ok := s.Cluster.Type(a.GPUType); ok && t.Counts() {
			*a = t.Proportional(a.Configuration)
		}
	}
}

// Cells returns the cells of j's sensitivity matrix, per GPU, with GPUs of a type
// of which at most perNode are on one node, and which take in rate samples per
// second each where they never wait: see perf.Sensitivity.Cells. A job of which
// nothing is known has the one cell of its GPU-proportional share; so has every
// job where CPUs and memory are not counted, with neither.
func (j *Job) Cells(rate float64, t *cluster.TypeInfo, perNode int) []perf.Cell {
	if j.Sensitivity == nil || !t.Counts() {
		share := t.Proportional(cluster.Configuration{GPUs: 1})
		return []perf.Cell{{CPUs: share.CPUs, Memory: share.Memory, Rate: rate}}
	}
	node := float64(t.PerNode) / float64(max(1, perNode))
	most := cluster.Resources{CPUs: t.Share.CPUs * node, Memory: int64(float64(t.Share.Memory) * node)}
	return j.Sensitivity.Cells(rate, t.Share, most)
}

// Expected returns the batch size that j is expected to train with on a: b, unless
// that is zero, which leaves it to the job's agent, who takes the submitted one if
// it may not be adapted and else the best. j has a model.
func (j *Job) Expected(a cluster.Allocation, b job.BatchSize) job.BatchSize {
	n, l := a.GPUs/j.ReplicaGPUs(a.GPUType), j.BatchLimits()
	switch {
	case n == 0 || b != (job.BatchSize{}):
	case l.Max > 0 && j.BatchSize > 0 && !j.Adaptivity.Has(job.BatchSizes):
		return perf.FixedBatch(j.BatchSize, n, a.GPUType, l)
	case l.Max > 0:
		_, b = perf.BestBatch(j.Perf, a, n, l)
	default:
		b.Local = (max(1, j.BatchSize) + n - 1) / n
	}
	return b
}

// Intake returns the samples per second that each GPU of c takes in where it never
// waits for input, as believed, with the batch size of Expected; 0 if j has no
// model.
func (j *Job) Intake(c cluster.Configuration, b job.BatchSize) float64 {
	if j.Perf == nil || c.GPUs == 0 {
		return 0
	}
	a := cluster.Allocation{Configuration: c}
	return j.Perf.Throughput(a, j.Expected(a, b)) / float64(c.GPUs)
}
