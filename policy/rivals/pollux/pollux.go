package pollux

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Policy is Pollux, which searches for the placements and batch sizes with the highest goodput by a genetic
// algorithm.
type Policy struct {
	o       Options
	beliefs map[job.ID]*belief
	last    *memory
}

// New returns a Pollux policy, or all errors of o.
func New(o Options) (*Policy, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("pollux: %w", err)
	}
	return &Policy{o: o, beliefs: make(map[job.ID]*belief), last: &memory{}}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy. Its time is proportional to population × generations × jobs × virtual nodes.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("pollux: round %d: %w", s.Round, err)
	}
	p.last = p.last.on(s.Cluster)
	plan := p.plan(ctx, s, p.last)
	p.forget(s)
	return plan, nil
}

func (p *Policy) plan(ctx context.Context, s *policy.Snapshot, m *memory) *policy.Plan {
	r := p.newRound(s, m)
	r.pin()
	r.lineUp()
	if len(r.seats) > 0 {
		best := r.search(ctx)
		r.trim(best)
		settler{r}.settleDown(best)
		r.start(best)
		reasons{r}.decide(best)
	}
	m.changed = false
	return r.plan
}

func (p *Policy) believe(s *policy.Snapshot, j *policy.Job) *belief {
	b := p.beliefs[j.ID]
	if b == nil {
		b = &belief{}
		p.beliefs[j.ID] = b
	}
	b.refresh(j, s.Cluster.Types())
	b.lastRound = s.Round
	return b
}

func (p *Policy) forget(s *policy.Snapshot) {
	for id, b := range p.beliefs {
		if b.lastRound != s.Round {
			delete(p.beliefs, id)
			delete(p.last.granted, id)
		}
	}
}

func (r *round) search(ctx context.Context) []int {
	p := r.p
	problem := &matrixProblem{rows: len(r.seats), columns: len(r.slots), mutate: r.mutate, repair: r.repair, fitness: r.fitness}
	source := rng.Stream(p.o.Seed, fmt.Sprintf("pollux/%d", r.s.Round))
	o := breedOptions{population: p.o.Population, generations: p.o.Generations, patience: p.o.Patience}
	found := breed(ctx, problem, r.beginning(), o, source)
	r.m.matrix, r.m.rows = found.population, r.m.rows[:0]
	for _, t := range r.seats {
		r.m.rows = append(r.m.rows, t.job.ID)
	}
	r.plan.Stats = policy.Stats{Iterations: found.evaluated, Objective: found.fitness, Interrupted: found.interrupted}
	return slices.Clone(found.population[0])
}

// beginning returns the present allocation and the last population, for the present jobs.
// Source: Pollux §4.2.1.
func (r *round) beginning() [][]int {
	n := len(r.slots)
	at := make(map[job.ID]int, len(r.m.rows))
	for i, id := range r.m.rows {
		at[id] = i
	}
	all := [][]int{make([]int, 0, len(r.seats)*n)}
	for _, t := range r.seats {
		all[0] = append(all[0], t.base...)
	}
	for _, old := range r.m.matrix[:min(len(r.m.matrix), r.p.o.Population-1)] {
		x := make([]int, len(r.seats)*n)
		for i, t := range r.seats {
			if k, ok := at[t.job.ID]; ok {
				copy(x[i*n:(i+1)*n], old[k*n:(k+1)*n])
			}
		}
		all = append(all, x)
	}
	return all
}

// Options configure Pollux.
type Options struct {
	P           float64 // exponent of the power mean of speedups, not 0; lower is fairer; default -1 (§4.2)
	Growth      float64 // largest number of GPUs of a job, relative to the most that it has had; default 2 (§4.1)
	Population  int     // number of matrices in a generation; default 100 (public code)
	Generations int     // number of generations per round; default 100 (public code)
	Patience    int     // number of generations without progress after which the search ends; 0: never; default 20
	Seed        uint64
}

// DefaultOptions returns the published settings.
func DefaultOptions() Options {
	return Options{P: -1, Growth: 2, Population: 100, Generations: 100, Patience: 20}
}

func (o *Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.P == 0 || math.IsNaN(o.P) || math.Abs(o.P) > 10 {
		bad("p %v, want -10 to 10 and not 0", o.P)
	}
	if !(o.Growth >= 1 && o.Growth <= 1e6) {
		bad("growth %v, want 1 to 1e+06", o.Growth)
	}
	if o.Population < 2 || o.Population > 10000 {
		bad("population %d, want 2 to 10000", o.Population)
	}
	if o.Generations < 1 || o.Generations > 10000 {
		bad("generations %d, want 1 to 10000", o.Generations)
	}
	if o.Patience < 0 {
		bad("patience %d, want at least 0", o.Patience)
	}
	return errors.Join(errs...)
}
