package synergy

import (
	"math"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

type row struct {
	perf        perf.Model
	sensitivity *perf.Sensitivity
	limits      *job.BatchLimits
	config      cluster.Configuration
	cells       []cell // by ascending use and worth; the first is within the share
	number      int
	filed       bool // the engine has these cells
	known       bool // the engine has the item
	seen        int  // round in which the job last ran
}

type cell struct {
	perf.Cell // per GPU
	// worth is the job's speed relative to its GPU-proportional share, times its weight. If it does not run
	// with its share, worth is 0 there, and relative to its full speed.
	worth float64
}

func (p *Policy) row(j *policy.Job, t *cluster.TypeInfo, c cluster.Configuration) *row {
	r := p.rows[j.ID]
	if r == nil {
		r = &row{}
		p.rows[j.ID] = r
	}
	if r.cells == nil || r.config != c || r.perf != j.Perf || r.sensitivity != j.Sensitivity || r.limits != j.Limits {
		r.perf, r.sensitivity, r.limits, r.config, r.filed = j.Perf, j.Sensitivity, j.Limits, c, false
		r.cells = p.cells(j, t, c)
	}
	return r
}

func (p *Policy) cells(j *policy.Job, t *cluster.TypeInfo, c cluster.Configuration) []cell {
	found := grant.Cells(j, t, c, p.together(c))
	unit := found[0].Rate
	if unit == 0 {
		unit = found[len(found)-1].Rate
	}
	cells := make([]cell, 0, len(found))
	for _, one := range found {
		worth := 0.0
		if unit > 0 {
			worth = weight(j) * one.Rate / unit
		}
		if n := len(cells); n == 0 || worth > cells[n-1].worth {
			cells = append(cells, cell{one, worth})
		}
	}
	return cells
}

// together returns how many of a job's GPUs at least share a node. Only for Tune's cells may a job be split,
// as published (§6).
func (p *Policy) together(c cluster.Configuration) int {
	if p.o.Mechanism == Tune && p.o.Cells == AllCells {
		return 1
	}
	return (c.GPUs + c.Nodes - 1) / c.Nodes
}

func weight(j *policy.Job) float64 {
	if !(j.Weight > 0) || math.IsInf(j.Weight, 1) {
		return 1
	}
	return j.Weight
}

func (c *cell) per() cluster.Resources {
	return cluster.Resources{GPUs: 1, CPUs: c.CPUs, Memory: c.Memory}
}

func (c *cell) all(gpus int) cluster.Resources {
	return cluster.Resources{GPUs: gpus, CPUs: float64(gpus) * c.CPUs, Memory: int64(gpus) * c.Memory}
}
