package policy

import (
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// FillProportional gives CPUs and memory in proportion to GPUs, as most schedulers do, to each allocation of plan p
// that has none. It skips GPU types whose nodes state no CPUs and memory, allocations on two GPU types, and allocations
// that did not change since the last round. Source: Synergy §2.
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

// Cells returns the amounts of CPUs and memory per GPU that are worth giving to job j on GPU type t, if at most perNode
// GPUs share a node. rate is the samples per second of one GPU that never waits for input. If j's sensitivity is
// unknown, or t does not count CPUs, the only amount is the share proportional to GPUs.
func (j *Job) Cells(rate float64, t *cluster.TypeInfo, perNode int) []perf.Cell {
	if j.Sensitivity == nil || !t.Counts() {
		share := t.Proportional(cluster.Configuration{GPUs: 1})
		return []perf.Cell{{CPUs: share.CPUs, Memory: share.Memory, Rate: rate}}
	}
	node := float64(t.PerNode) / float64(max(1, perNode))
	most := cluster.Resources{CPUs: t.Share.CPUs * node, Memory: int64(float64(t.Share.Memory) * node)}
	return j.Sensitivity.Cells(rate, t.Share, most)
}

// Expected returns the batch size that job j, which must have a model, will use on allocation a. This is b, the plan's
// choice, unless b is zero. Then it is the submitted size if j may not adapt it, else the size with the highest
// goodput.
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

// Intake returns how many samples per second each GPU of configuration c can process if it never waits for
// input data, with the batch size that Expected returns for b. It returns 0 if j has no model.
func (j *Job) Intake(c cluster.Configuration, b job.BatchSize) float64 {
	if j.Perf == nil || c.GPUs == 0 {
		return 0
	}
	a := cluster.Allocation{Configuration: c}
	return j.Perf.Throughput(a, j.Expected(a, b)) / float64(c.GPUs)
}
