package placement

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// A Cell is one choice for a job: CPUs and memory for each of its GPUs, and the job's speed with them.
type Cell struct {
	CPUs   float64 // cores per GPU
	Memory int64   // bytes per GPU
	Value  float64 // speed relative to the speed with the GPU-proportional share
}

// Per returns the CPUs and memory for one GPU.
func (c *Cell) Per() cluster.Resources { return cluster.Resources{CPUs: c.CPUs, Memory: c.Memory} }

func (c *Cell) within(most cluster.Resources) bool {
	return c.CPUs <= most.CPUs*(1+cpuSlack) && c.Memory <= most.Memory
}

type matrices struct {
	cluster *cluster.Cluster
	known   map[*job.Spec]*matrix
	round   int
}

type matrix struct {
	model  perf.Model
	input  *perf.Sensitivity
	config cluster.Configuration
	batch  job.BatchSize
	cells  []Cell
	round  int // last used in this round
}

func (m *matrices) begin(c *cluster.Cluster, jobs int) {
	if m.cluster != c || m.known == nil {
		m.cluster, m.known = c, make(map[*job.Spec]*matrix)
	}
	if len(m.known) > 2*jobs+64 {
		for spec, x := range m.known {
			if x.round != m.round {
				delete(m.known, spec)
			}
		}
	}
	m.round++
}

func (m *matrices) of(j *policy.Job, d *policy.Decision, t *cluster.TypeInfo) []Cell {
	if j.Sensitivity == nil || j.Perf == nil {
		return nil
	}
	x := m.known[j.Spec]
	if x == nil {
		x = new(matrix)
		m.known[j.Spec] = x
	}
	x.round = m.round
	if x.model != j.Perf || x.input != j.Sensitivity || x.config != d.Allocation.Configuration || x.batch != d.Batch {
		*x = matrix{j.Perf, j.Sensitivity, d.Allocation.Configuration, d.Batch, cells(j, d, t), m.round}
	}
	return x.cells
}

// cells returns the cells of the sensitivity matrix. If a job cannot run with its proportional share, that
// share is its first cell, of value 0, and the other values are relative to the slowest cell with which it
// runs.
func cells(j *policy.Job, d *policy.Decision, t *cluster.TypeInfo) []Cell {
	rate := j.Intake(d.Allocation.Configuration, d.Batch)
	if rate <= 0 {
		return nil
	}
	matrix := j.Cells(rate, t, 1)
	if len(matrix) == 0 {
		return nil
	}
	var all []Cell
	if first := matrix[0]; first.CPUs > t.Share.CPUs*(1+cpuSlack) || first.Memory > t.Share.Memory {
		all = append(all, Cell{CPUs: min(first.CPUs, t.Share.CPUs), Memory: min(first.Memory, t.Share.Memory)})
	}
	for k, c := range matrix {
		if k > 0 {
			all = between(all, j, matrix[k-1], c, matrix[0].Rate)
		}
		all = append(all, Cell{c.CPUs, c.Memory, c.Rate / matrix[0].Rate})
	}
	return all
}

const steps = 8

// between adds faster cells with the CPUs of b and memory between a and b. The matrix has only whole shares
// of memory, but a cache of any size helps.
func between(all []Cell, j *policy.Job, a, b perf.Cell, fair float64) []Cell {
	for q := int64(1); q < steps; q++ {
		m := a.Memory + (b.Memory-a.Memory)*q/steps
		v := min(b.Rate, j.Sensitivity.Rate(b.CPUs, m)) / fair
		if v > all[len(all)-1].Value*(1+1e-9) && m < b.Memory && v < b.Rate/fair {
			all = append(all, Cell{b.CPUs, m, v})
		}
	}
	return all
}

// choices returns the cells that a placer may give, and the index of the fastest one within what the plan
// names. exact: the allocation must not change. A plan that is not fungible is an upper limit. A
// non-preemptive job keeps its cell for good, so it gets its share at most.
func (m *matrices) choices(j *policy.Job, d *policy.Decision, t *cluster.TypeInfo, fungible bool) (all []Cell, wish int, exact bool) {
	named := asNamed(&d.Allocation)
	stays := j.NonPreemptive && d.Allocation == j.Allocation
	if !t.Counts() || stays || !fungible && named.within(t.Share) {
		return []Cell{named}, 0, true
	}
	if all = m.of(j, d, t); all == nil {
		all, wish = insensitive(named, t, fungible)
		return all, wish, false
	}
	for wish+1 < len(all) && all[wish+1].within(named.Per()) {
		wish++
	}
	switch {
	case j.NonPreemptive:
		return all[:1], 0, false
	case fungible:
		return all, wish, false
	}
	return all[:wish+1], wish, false
}

func asNamed(a *cluster.Allocation) Cell {
	gpus := int64(a.GPUs)
	return Cell{a.CPUs / float64(gpus), (a.Memory + gpus - 1) / gpus, 1}
}

func insensitive(named Cell, t *cluster.TypeInfo, fungible bool) ([]Cell, int) {
	share := Cell{t.Share.CPUs, t.Share.Memory, 1}
	if fungible {
		return []Cell{share}, 0
	}
	share.CPUs, share.Memory = min(share.CPUs, named.CPUs), min(share.Memory, named.Memory)
	named.Value += 1e-6
	return []Cell{share, named}, 1
}
