package sia

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// A Policy is Sia. It keeps the goodput rows and the prices of the last round;
// its plans do not depend on what it keeps, but that the last prices may decide between plans of equal value, or within the
// gap of a plan that is not proven optimal. Make one with New.
type Policy struct {
	o       Options
	cluster *cluster.Cluster
	columns []configuration
	hosts   []host // by GPU type
	rows    map[job.ID]*row
	engine  engine.Engine // nil until a cluster is met
	items   int           // numbers given to items
	numbers []int         // of those, given back
	prices  []float64     // of the last round
	free    []float64     // GPUs that this round's plan leaves free, by resource
	gone    []*row        // of jobs that left in this round
}

// New returns a Sia policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	if err := engine.Check(o.Solver); err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	return &Policy{o: o, rows: make(map[job.ID]*row)}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	rows, err := p.prepare(s)
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	sol, err := p.engine.Solve(ctx) // 3. who gets what, at which prices
	if err != nil {
		return nil, fmt.Errorf("sia: %w", err)
	}
	p.prices = append(p.prices[:0], sol.Prices...)
	return p.decide(s, rows, sol), nil // 4. allocations, with reasons
}

// prepare brings rows and program up to date with a snapshot.
func (p *Policy) prepare(s *policy.Snapshot) ([]*row, error) {
	if err := p.meet(s.Cluster); err != nil {
		return nil, err
	}
	rows, err := p.refreshRows(s) // 1. goodput of each job and configuration
	if err != nil {
		return nil, err
	}
	return rows, p.file(s, rows) // 2. values under restarts, fairness and pins
}

// meet takes up a new cluster: other columns, so other rows. An engine is made
// anew if the GPU types are others.
func (p *Policy) meet(c *cluster.Cluster) error {
	if p.cluster == c {
		return nil
	}
	capacity, hosts := couple(c.Types(), p.o.Cells)
	same := p.engine != nil && slices.Equal(hosts, p.hosts) &&
		slices.EqualFunc(p.cluster.Types(), c.Types(), func(a, b cluster.TypeInfo) bool { return a.Type == b.Type })
	if same {
		for k, b := range capacity {
			if err := p.engine.SetCapacity(k, b); err != nil {
				return err
			}
		}
	} else {
		e, err := engine.New(p.o.Solver, capacity, engine.Options{Ties: p.o.Ties})
		if err != nil {
			return err
		}
		p.engine, p.items, p.numbers, p.prices = e, 0, nil, nil
	}
	p.cluster, p.columns, p.hosts = c, matrixColumns(c), hosts
	for _, r := range p.rows {
		r.laid, r.item.filed = false, r.item.filed && same
	}
	return nil
}

// refreshRows returns the rows of the snapshot's jobs, in its order, and
// forgets those of jobs that are gone.
func (p *Policy) refreshRows(s *policy.Snapshot) ([]*row, error) {
	rows := make([]*row, len(s.Jobs))
	for i, j := range s.Jobs {
		r := p.rows[j.ID]
		if r == nil {
			r = &row{}
			p.rows[j.ID] = r
		}
		p.refresh(r, j)
		r.seen = s.Round
		rows[i] = r
	}
	if len(p.rows) > len(rows) {
		for id, r := range p.rows {
			if r.seen != s.Round {
				delete(p.rows, id)
				p.gone = append(p.gone, r)
			}
		}
		// In the order of numbers, so that equal runs number alike.
		slices.SortFunc(p.gone, func(a, b *row) int { return cmp.Compare(a.item.number, b.item.number) })
		for _, r := range p.gone {
			if err := p.drop(r); err != nil {
				return nil, err
			}
		}
		p.gone = p.gone[:0]
	}
	return rows, nil
}

// decide turns the solution into a plan.
func (p *Policy) decide(s *policy.Snapshot, rows []*row, sol *mmkp.Solution) *policy.Plan {
	plan := &policy.Plan{Jobs: make([]policy.Decision, len(rows)), Fungible: p.fungible()}
	for k := range p.cluster.Types() {
		plan.Prices = append(plan.Prices, p.priceOf(k))
	}
	p.setFree(rows, sol)
	for i, r := range rows {
		d := &plan.Jobs[i]
		column := -1
		switch {
		case !r.pin.IsZero():
			d.Allocation = cluster.Allocation{Configuration: r.pin, CPUs: r.share.CPUs, Memory: r.share.Memory}
		case sol.Pick[r.item.number] >= 0:
			at := r.item.origin[sol.Pick[r.item.number]]
			column = int(at.column)
			d.Allocation = p.grant(r, column, int(at.cell))
		}
		d.Why = p.reason(s, r, column)
	}
	p.trim(plan, rows)
	plan.Stats = policy.Stats{Iterations: sol.Iterations, Objective: sol.Value, Bound: sol.Bound, Gap: sol.Gap, Interrupted: sol.Status == mmkp.Interrupted}
	return plan
}

// setFree notes the GPUs that a solution leaves free.
func (p *Policy) setFree(rows []*row, sol *mmkp.Solution) {
	p.free = p.free[:0]
	for _, t := range p.cluster.Types() {
		p.free = append(p.free, float64(t.GPUs))
	}
	for _, r := range rows {
		if pick := sol.Pick[r.item.number]; pick >= 0 {
			use := r.item.choices[pick].Use
			p.free[use.Resource] -= use.Amount
		}
	}
}
