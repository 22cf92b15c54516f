package goodput

import (
	"context"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

func (p *Program) decide(rows []*Row, sol *mmkp.Solution) *policy.Plan {
	why := reasons{p}
	return why.explained(rows, sol, func(i, column int) policy.Reason { return why.reason(rows[i], column) })
}

func (p leveller) planLevels(ctx context.Context, now time.Time, rows []*Row, all []int, short tenants) (*policy.Plan, error) {
	l, err := p.byLevels(ctx, now, rows, all, short)
	for err == nil && p.lacking(rows, l.sol, short) {
		l, err = p.byLevels(ctx, now, rows, all, short)
	}
	if err != nil {
		return nil, err
	}
	p.prices = append(p.prices[:0], l.sol.Prices...)
	plan := reasons(p).explained(rows, l.sol, l.reason)
	p.prices = append(p.prices[:0], l.sol.Prices...) // reason replaced them by the prices of each level
	return plan, nil
}

func (p reasons) explained(rows []*Row, sol *mmkp.Solution, reason func(i, column int) policy.Reason) *policy.Plan {
	plan := &policy.Plan{Jobs: make([]policy.Decision, len(rows)), Prices: p.typePrices(), Fungible: p.fungible()}
	p.setFree(rows, sol)
	for i, r := range rows {
		d := &plan.Jobs[i]
		column := -1
		switch {
		case !r.pin.IsZero():
			d.Allocation = cluster.Allocation{Configuration: r.pin.Configuration, CPUs: r.share.CPUs, Memory: r.share.Memory}
		case sol.Pick[r.item.number] >= 0:
			at := r.item.origin[sol.Pick[r.item.number]]
			column = int(at.column)
			d.Allocation = r.grant(column, int(at.cell))
		}
		d.Why = reason(i, column)
	}
	p.trim(plan, rows)
	plan.Stats = policy.Stats{Iterations: sol.Iterations, Objective: sol.Value, Bound: sol.Bound, Gap: sol.Gap, Interrupted: sol.Status == mmkp.Interrupted}
	return plan
}

func (rs *resources) setFree(rows []*Row, sol *mmkp.Solution) {
	rs.free = rs.free[:0]
	for _, t := range rs.cluster.Types() {
		rs.free = append(rs.free, float64(t.GPUs))
	}
	for _, r := range rows {
		if pick := sol.Pick[r.item.number]; pick >= 0 {
			use := r.item.choices[pick].Use
			rs.free[use.Resource] -= use.Amount
		}
	}
}

func (r *Row) grant(i, n int) cluster.Allocation {
	a := cluster.Allocation{Configuration: r.columns[i].Configuration}
	switch {
	case r.columns[i].host.counts():
		c := &r.cells[i][n]
		a.CPUs, a.Memory = c.cpus, c.memory
	case a.Configuration == r.job.Allocation.Configuration:
		a = r.job.Allocation
	}
	return a
}

// trim takes a few bytes from the largest allocation if a plan exceeds the memory of a GPU type: the program's
// capacities have a tolerance, memory has none.
func (rs *resources) trim(plan *policy.Plan, rows []*Row) {
	for k, t := range rs.cluster.Types() {
		if !rs.hosts[k].counts() {
			continue
		}
		over, most := -t.Memory, -1
		for i := range plan.Jobs {
			a := &plan.Jobs[i].Allocation
			if a.GPUType != t.Type {
				continue
			}
			over += a.Memory
			if rows[i].pin.IsZero() && (most < 0 || a.Memory > plan.Jobs[most].Allocation.Memory) {
				most = i
			}
		}
		if over > 0 && most >= 0 {
			plan.Jobs[most].Allocation.Memory -= over
		}
	}
}
