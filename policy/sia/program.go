package sia

import (
	"context"
	"errors"
	"math"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
)

// maxCost is what the public code clips costs at.
const maxCost = 3000

// program writes this round's rows as a multiple-choice knapsack: one item per
// job, one choice per allowed configuration, one resource per GPU type. The
// value of a choice is what it adds over giving the job nothing: λ minus the
// cost (r·G)^p for p < 0, and (r·G)^p plus λ for p > 0. Source: Sia §3.3.4,
// Eq. 3.4 and 3.5, and "Preemption and reservation".
func (p *Policy) program(s *policy.Snapshot, rows []*row) *mmkp.Problem {
	p.problem.Capacity = p.problem.Capacity[:0]
	for _, t := range p.cluster.Types() {
		p.problem.Capacity = append(p.problem.Capacity, float64(t.GPUs))
	}
	p.problem.Items = resize(p.problem.Items, len(rows))
	p.origin = resize(p.origin, len(rows))
	p.pin(rows)
	p.sharing = p.o.TimeShare > 0 && p.congested(rows)
	for i, r := range rows {
		lambda := p.o.Lambda
		if p.sharing {
			lambda = p.timeShare(r, s)
		}
		p.item(i, r, lambda, p.restartFactor(r, s.Now))
	}
	return &p.problem
}

// item writes one job's item: a pinned job must take the one configuration it
// has.
func (p *Policy) item(i int, r *row, lambda, factor float64) {
	it := &p.problem.Items[i]
	it.Choices, p.origin[i] = it.Choices[:0], p.origin[i][:0]
	it.Must = !r.pin.IsZero()
	if it.Must {
		k := p.resource(r.pin.GPUType)
		it.Choices = append(it.Choices, mmkp.Choice{Use: mmkp.Use{Resource: k, Amount: float64(r.pin.GPUs)}})
		return
	}
	if r.job.Phase == job.Profiling || !r.job.Reservation.IsZero() {
		return
	}
	for k, c := range r.columns {
		if !r.allowed[k] {
			continue
		}
		v, ok := p.gain(r, k, lambda, factor)
		if !ok {
			continue
		}
		it.Choices = append(it.Choices, mmkp.Choice{Value: v, Use: mmkp.Use{Resource: c.resource, Amount: float64(c.GPUs)}})
		p.origin[i] = append(p.origin[i], k)
	}
}

// gain returns the value of column k; ok is false if the job cannot run there.
func (p *Policy) gain(r *row, k int, lambda, factor float64) (float64, bool) {
	g := p.value(r, k)
	if !(g > 0) || math.IsInf(g, 0) {
		return 0, false
	}
	if r.job.Holding() && r.columns[k].Configuration != r.job.Allocation.Configuration {
		g *= factor
	}
	worth := math.Pow(g, p.o.P)
	if p.o.Rules.RoundCosts {
		worth = min(maxCost, math.Round(worth*100)/100)
	}
	if math.IsInf(worth, 0) {
		return 0, false
	}
	if p.o.P < 0 {
		worth = -worth
	}
	return lambda + worth, true
}

// solve returns the best choices, with prices: the exact solver has none, and
// gets those of the price solver, which are all 0 if it finds no solution.
func (p *Policy) solve(ctx context.Context, problem *mmkp.Problem) (*mmkp.Solution, error) {
	priced, err := p.solver.Solve(ctx, problem, p.prices, mmkp.DefaultOptions())
	if p.o.Solver != Exact {
		return priced, err
	}
	if err != nil && !errors.Is(err, mmkp.ErrLimit) {
		return nil, err
	}
	sol, wrong := solveExact(ctx, problem)
	if wrong != nil {
		return nil, wrong
	}
	sol.Prices = make([]float64, len(problem.Capacity))
	if err == nil {
		copy(sol.Prices, priced.Prices)
	}
	return sol, nil
}
