package synergy

import (
	"cmp"
	"math"
	"slices"

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

// tune packs tenants as published, each with its full demand or its share. Source: Synergy §4.2.
func (p *Policy) tune(s *policy.Snapshot, plan *policy.Plan) {
	p.packing.reset(len(p.tenants))
	for k := range p.tenants {
		p.binary(&p.tenants[k])
	}
	p.keep(s)
	for _, k := range p.byDemand() {
		if p.packing.slots[k] != nil {
			continue
		}
		full := len(p.tenants[k].cells) - 1
		if !p.fit(s, k, full) && (full == 0 || !p.fit(s, k, 0)) { // 1. its demand, or its share
			p.force(s, k) // 2. its share; others revert to theirs
		}
	}
	p.yield(plan)
	p.place(s, plan)
	plan.Stats.Objective, _ = worth(p.tenants)
	plan.Stats.Bound = p.fastest()
	plan.Stats.Gap = policy.Gap(plan.Stats.Objective, plan.Stats.Bound)
}

// binary reduces a tenant to two cells, share and demand, or to its demand if that is within the share.
//
// Deviation: if it demands less of a resource than its share, both cells have the demand, because the share
// would not make it faster, and a job that reverts must not take more of anything.
func (p *Policy) binary(t *tenant) {
	if t.fixed {
		return
	}
	share := p.cluster.Types()[t.typeIndex].Share
	fair, best := t.cells[0], t.cells[len(t.cells)-1]
	t.cells = []cell{best}
	if best.CPUs > share.CPUs || best.Memory > share.Memory {
		fair.CPUs, fair.Memory = min(share.CPUs, best.CPUs), min(share.Memory, best.Memory)
		t.cells = []cell{fair, best}
	}
	t.level = 0
}

func (p *Policy) byDemand() []int {
	order := make([]int, len(p.tenants))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := p.tenants[a].demand(), p.tenants[b].demand()
		return cmp.Or(cmp.Compare(y.GPUs, x.GPUs), cmp.Compare(y.CPUs, x.CPUs), cmp.Compare(y.Memory, x.Memory))
	})
	return order
}

func (p *Policy) fastest() float64 {
	sum := 0.0
	for k := range p.tenants {
		cells := p.tenants[k].cells
		sum += cells[len(cells)-1].worth
	}
	return sum
}
