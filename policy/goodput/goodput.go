package goodput

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/policy"
)

// Options configure a program.
type Options struct {
	P      float64 // exponent of a goodput's value, not 0
	Growth float64 // a job's GPUs may grow by this factor a round, at least 1
	Start  int     // a job that holds nothing may begin on up to so many GPUs, and more if it must; 0: on its minimum
	Solver string  // the engine: see opt/engine
	Cells  bool    // CPUs and memory are chosen with GPUs, where nodes count them
	Ties   uint64  // which of equally good plans: 0 first come first served, others at random
	Rules  Rules
}

// Rules are departures of Sia's public code from the thesis; see package sia.
type Rules struct {
	RoundCosts     bool
	ValidMinimum   bool
	HistoricGrowth bool
}

// Validate returns an error that joins all complaints about o.
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
	if err := engine.Check(o.Solver); err != nil && !errors.Is(err, exact.ErrUnavailable) {
		bad("solver %q, want one of %s", o.Solver, strings.Join(engine.Names(), ", "))
	}
	return errors.Join(errs...)
}

// A Program chooses for all jobs of a cluster together. It keeps the goodput
// rows and the prices of the last round. Its plans do not depend on what it
// keeps, with one exception: the last prices may decide between plans of equal
// value, or between plans within the gap of one that is not proven optimal.
// Make one with New.
type Program struct {
	o       Options
	cluster *cluster.Cluster
	columns []configuration
	runs    [][]configuration // the same, cut: see runsOf
	hosts   []host            // by GPU type
	rows    map[job.ID]*Row
	engine  engine.Engine // nil until a cluster is met
	items   int           // numbers given to items
	numbers []int         // of those, given back
	prices  []float64     // of the last round
	free    []float64     // GPUs that this round's plan leaves free, by resource
	gone    []*Row        // of jobs that left in this round
}

// New returns a program, or an error that joins all complaints about o.
func New(o Options) (*Program, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := engine.Check(o.Solver); err != nil {
		return nil, err
	}
	return &Program{o: o, rows: make(map[job.ID]*Row)}, nil
}

// Plan returns the plan that is worth most. Value is called once, with a row for
// each job of the snapshot, in its order; it sets what is worth what: Row.Worth.
func (p *Program) Plan(ctx context.Context, s *policy.Snapshot, value func([]*Row)) (*policy.Plan, error) {
	rows, err := p.Prepare(s, value)
	if err != nil {
		return nil, err
	}
	if all := levels(rows); len(all) > 1 {
		return leveller{p}.planLevels(ctx, s.Now, rows, all)
	}
	sol, err := p.solve(ctx, rows) // 4. who gets what, at which prices
	if err != nil {
		return nil, err
	}
	p.prices = append(p.prices[:0], sol.Prices...)
	return p.decide(rows, sol), nil // 5. allocations, with reasons
}

// Prepare brings rows and program up to date with a snapshot: the stages of Plan
// before anything is solved.
func (p *Program) Prepare(s *policy.Snapshot, value func([]*Row)) ([]*Row, error) {
	if err := p.meet(s.Cluster); err != nil {
		return nil, err
	}
	rows := p.refreshRows(s) // 1. goodput of each job and configuration
	value(rows)              // 2. values
	for _, r := range rows {
		r.firm = r.Claim.Rate > 0 && !r.job.Adaptivity.Has(job.GPUCount)
	}
	pinner{p}.pin(rows) // 3. who gets what it has or claims, whatever it is worth
	return rows, p.file(rows)
}
