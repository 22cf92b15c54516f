package goodput

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// Options configure a Program.
type Options struct {
	P      float64 // exponent of a goodput's value, not 0
	Growth float64 // factor by which a job's GPUs may grow in a round, at least 1
	Start  int     // most GPUs for a job that holds none, or its minimum if larger; 0: its minimum
	Solver string  // name of the engine, see opt/engine
	Cells  bool    // choose CPUs and memory with GPUs, if nodes count them
	Ties   uint64  // order of equally good plans: 0 first come first served, others random
	Rules  Rules
}

// Rules select details in which Sia's published code differs from the Sia thesis; package sia describes them.
type Rules struct {
	RoundCosts     bool
	ValidMinimum   bool
	HistoricGrowth bool
}

// Validate returns all errors in o, joined.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.P == 0 || math.IsNaN(o.P) || math.Abs(o.P) > 10 {
		bad("p %v, want -10 to 10 and not 0", o.P)
	}
	if !(o.Growth >= 1) {
		bad("growth %v, want at least 1", o.Growth)
	}
	if o.Start < 0 {
		bad("start %v, want at least 0", o.Start)
	}
	if !slices.Contains(engine.Names(), o.Solver) {
		bad("solver %q, want one of %s", o.Solver, strings.Join(engine.Names(), ", "))
	}
	return errors.Join(errs...)
}

// A Program chooses the GPUs of all jobs of a cluster together, by goodput, in every round. Make one with New. It keeps
// goodputs and GPU prices between rounds; these prices affect only the choice between plans that are equally good
// within the solver's gap.
type Program struct {
	o Options
	resources
	rows    map[job.ID]*Row
	engine  engine.Engine // nil before the first cluster
	items   int
	numbers []int
	gone    []*Row // of jobs that left in this round
}

// New returns a Program, or all errors in o, joined.
func New(o Options) (*Program, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := engine.Check(o.Solver); err != nil {
		return nil, err
	}
	return &Program{o: o, rows: make(map[job.ID]*Row)}, nil
}

// Plan returns the plan with the highest total worth over all jobs: see Worth. It calls value once, with a row for each
// job in the order of the snapshot; value must set Row.Worth.
func (p *Program) Plan(ctx context.Context, s *policy.Snapshot, value func([]*Row)) (*policy.Plan, error) {
	rows, err := p.Prepare(s, value)
	if err != nil {
		return nil, err
	}
	if all := levels(rows); len(all) > 1 {
		return leveller{p}.planLevels(ctx, s.Now, rows, all, make(tenants))
	}
	sol, err := p.solve(ctx, rows) // 4. choices and prices
	if err != nil {
		return nil, err
	}
	if short := make(tenants); (leveller{p}).lacking(rows, sol, short) {
		return leveller{p}.planGuaranteed(ctx, s.Now, rows, short)
	}
	p.prices = append(p.prices[:0], sol.Prices...)
	return p.decide(rows, sol), nil // 5. allocations, with reasons
}

// Prepare returns the rows of all jobs with their goodputs and worths, in the order of the snapshot. Plan computes the
// same rows before it optimises. value must set Row.Worth.
func (p *Program) Prepare(s *policy.Snapshot, value func([]*Row)) ([]*Row, error) {
	if err := p.meet(s); err != nil {
		return nil, err
	}
	rows := p.refreshRows(s) // 1. goodput of each job and configuration
	value(rows)              // 2. values
	for _, r := range rows {
		r.firm = r.Claim.Rate > 0 && len(r.columns) == 1
	}
	pinner{p}.pin(rows) // 3. fixed allocations and claims
	return rows, p.file(rows)
}

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
	if len(rs.sets) > 0 {
		rs.free = append(rs.free, make([]float64, rs.firstSet-len(rs.free))...)
	}
	for k := range rs.sets {
		rs.free = append(rs.free, rs.sets[k].gpus)
	}
	for _, r := range rows {
		if pick := sol.Pick[r.item.number]; pick >= 0 {
			own := &r.item.choices[pick]
			rs.free[own.Resource] -= own.Amount
			for _, u := range own.More {
				if u.Resource >= rs.firstSet {
					rs.free[u.Resource] -= u.Amount
				}
			}
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
