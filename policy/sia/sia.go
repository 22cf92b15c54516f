package sia

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// solveExact is opt/exact, which says so itself where it was left out.
var solveExact = exact.Solve

// A Policy is Sia. It keeps the goodput rows and the prices of the last round;
// its plans do not depend on what it keeps beyond time-sharing's history, but
// that the last prices may decide between plans of equal value. Make one with
// New.
type Policy struct {
	o       Options
	cluster *cluster.Cluster
	columns []configuration
	rows    map[job.ID]*row
	solver  *mmkp.Solver
	problem mmkp.Problem
	origin  [][]int   // per item and choice: the row's column
	prices  []float64 // of the last round
	free    []float64 // GPUs that this round's plan leaves free, by resource
	sharing bool      // time sharing acts in this round
	now     int64     // of this round, nanoseconds
}

// New returns a Sia policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	if o.Solver == Exact && !exact.Available {
		return nil, fmt.Errorf("sia: %w", exact.ErrUnavailable)
	}
	return &Policy{o: o, rows: make(map[job.ID]*row), solver: mmkp.NewSolver()}, nil
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	p.meet(s.Cluster)
	p.now = s.Now.UnixNano()
	rows := p.refreshRows(s)          // 1. goodput of each job and configuration
	problem := p.program(s, rows)     // 2. values under restarts, fairness and pins
	sol, err := p.solve(ctx, problem) // 3. who gets what, at which prices
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	p.prices = append(p.prices[:0], sol.Prices...)
	return p.decide(s, rows, sol), nil // 4. allocations, with reasons
}

// meet takes up a new cluster: other columns, so other rows.
func (p *Policy) meet(c *cluster.Cluster) {
	if p.cluster == c {
		return
	}
	p.cluster, p.columns, p.prices = c, matrixColumns(c), nil
	for _, r := range p.rows {
		r.laid = false
	}
}

// refreshRows returns the rows of the snapshot's jobs, in its order, and
// forgets those of jobs that are gone.
func (p *Policy) refreshRows(s *policy.Snapshot) []*row {
	rows := make([]*row, len(s.Jobs))
	for i, j := range s.Jobs {
		r := p.rows[j.ID]
		if r == nil {
			r = &row{}
			p.rows[j.ID] = r
		}
		p.refresh(r, j)
		r.remember()
		r.seen = s.Round
		rows[i] = r
	}
	if len(p.rows) > len(rows) {
		for id, r := range p.rows {
			if r.seen != s.Round {
				delete(p.rows, id)
			}
		}
	}
	return rows
}

// decide turns the solution into a plan.
func (p *Policy) decide(s *policy.Snapshot, rows []*row, sol *mmkp.Solution) *policy.Plan {
	plan := &policy.Plan{Jobs: make([]policy.Decision, len(rows))}
	for k, t := range p.cluster.Types() {
		plan.Prices = append(plan.Prices, policy.TypePrice{Type: t.Type, Price: p.prices[k]})
	}
	p.setFree(sol)
	for i, r := range rows {
		d := &plan.Jobs[i]
		column := -1
		switch {
		case !r.pin.IsZero():
			d.Allocation.Configuration = r.pin
		case sol.Pick[i] >= 0:
			column = p.origin[i][sol.Pick[i]]
			d.Allocation.Configuration = r.columns[column].Configuration
		}
		if d.Allocation.Configuration == r.job.Allocation.Configuration {
			d.Allocation = r.job.Allocation // with its CPUs and memory
		}
		d.Why = p.reason(s, r, i, column)
	}
	plan.Stats = policy.Stats{Iterations: sol.Iterations, Objective: sol.Value, Bound: sol.Bound, Gap: sol.Gap}
	return plan
}

// setFree notes the GPUs that a solution leaves free.
func (p *Policy) setFree(sol *mmkp.Solution) {
	p.free = append(p.free[:0], p.problem.Capacity...)
	for i, pick := range sol.Pick {
		if pick >= 0 {
			use := p.problem.Items[i].Choices[pick].Use
			p.free[use.Resource] -= use.Amount
		}
	}
}
