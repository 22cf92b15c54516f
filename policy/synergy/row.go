package synergy

import (
	"math"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// A row is what CPUs and memory do for one job on the GPUs it gets: its part of
// W_j. It is kept from round to round, and made anew where something it depends on
// is another.
type row struct {
	perf        perf.Model
	sensitivity *perf.Sensitivity
	limits      *job.BatchLimits
	config      cluster.Configuration // that it is for
	cells       []cell                // by ascending use and worth; the first is within the share
	number      int                   // of the engine's item
	filed       bool                  // the engine has these cells
	known       bool                  // to the engine
	seen        int                   // round in which the job last ran
}

// A cell is one entry of W_j for all GPUs of the job.
type cell struct {
	perf.Cell     // per GPU
	nodes     int // it needs at least: 1 + those by which it is split to have more
	// worth is the job's speed relative to that with its GPU-proportional share,
	// times its weight. A job that does not run with its share has worth 0 with it,
	// and its weight at full speed.
	worth float64
}

// row returns the row of a job that gets GPUs of type t.
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

// cells returns the cells of a job, with their worth.
func (p *Policy) cells(j *policy.Job, t *cluster.TypeInfo, c cluster.Configuration) []cell {
	found := queue.Cells(j, t, c)
	unit := found[0].Rate
	if unit == 0 {
		unit = found[len(found)-1].Rate
	}
	cells := make([]cell, 0, len(found))
	add := func(one perf.Cell, nodes int, part float64) {
		worth := 0.0
		if unit > 0 {
			worth = weight(j) * part * one.Rate / unit
		}
		if n := len(cells); n == 0 || worth > cells[n-1].worth {
			cells = append(cells, cell{one, nodes, worth})
		}
	}
	for _, one := range found {
		add(one, c.Nodes, 1)
	}
	if wide := wider(c, t); p.o.Penalty < 1 && wide != c && j.Reservation.IsZero() {
		for _, one := range queue.Cells(j, t, wide) {
			add(one, wide.Nodes, 1-p.o.Penalty)
		}
	}
	return cells
}

// wider returns c on twice as many nodes, where it can be halved evenly: a job so
// has up to twice the CPUs and memory for each GPU.
func wider(c cluster.Configuration, t *cluster.TypeInfo) cluster.Configuration {
	if w := 2 * c.Nodes; c.GPUs%w == 0 && w <= t.Nodes {
		c.Nodes = w
	}
	return c
}

// weight returns a job's weight in the objective.
func weight(j *policy.Job) float64 {
	if !(j.Weight > 0) || math.IsInf(j.Weight, 1) {
		return 1
	}
	return j.Weight
}

// per returns what each GPU gets in a cell.
func (c *cell) per() cluster.Resources {
	return cluster.Resources{GPUs: 1, CPUs: c.CPUs, Memory: c.Memory}
}

// all returns what so many GPUs get.
func (c *cell) all(gpus int) cluster.Resources {
	return cluster.Resources{GPUs: gpus, CPUs: float64(gpus) * c.CPUs, Memory: int64(gpus) * c.Memory}
}
