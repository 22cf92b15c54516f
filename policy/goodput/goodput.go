package goodput

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/engine"
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
// goodputs, and the dual prices of GPUs, between rounds. These prices affect only the choice between plans that are
// equally good within the solver's gap.
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
	if err := p.meet(s.Cluster); err != nil {
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
