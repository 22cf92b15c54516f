package policy

import (
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/perf"
)

// FillProportional gives the GPU-proportional share of CPUs and memory to every
// allocation that says nothing of them on a GPU type whose nodes count them. A
// policy that does not think of CPUs so grants what today's schedulers do.
// Source: Synergy §2.
func FillProportional(s *Snapshot, p *Plan) {
	if p == nil {
		return
	}
	for i := range p.Jobs {
		a := &p.Jobs[i].Allocation
		if a.GPUs == 0 || a.CPUs > 0 || a.Memory > 0 {
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
