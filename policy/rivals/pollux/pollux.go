package pollux

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Policy is Pollux. It keeps what it believes of jobs, and what it found in the last
// round, from which the search goes on. It is not safe for concurrent use. Make one with
// New.
type Policy struct {
	o       Options
	beliefs map[job.ID]*belief
	last    *memory
}

// New returns a Pollux policy, or an error that joins all complaints about o.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("pollux: %w", err)
	}
	return &Policy{o: o, beliefs: make(map[job.ID]*belief), last: &memory{}}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy. It takes time in proportion to population,
// generations, jobs and virtual nodes. The only error is that of ctx, before it begins.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("pollux: round %d: %w", s.Round, err)
	}
	p.last = p.last.on(s.Cluster)
	plan := p.plan(ctx, s, p.last)
	p.forget(s)
	return plan, nil
}

// plan returns the plan for a snapshot, whose cluster is that of m: the search goes on
// from it, and what it finds is kept there.
func (p *Policy) plan(ctx context.Context, s *policy.Snapshot, m *memory) *policy.Plan {
	r := p.newRound(s, m)
	r.pin()    // 1. what may not be taken from anyone
	r.lineUp() // 2. everyone else has a row
	if len(r.seats) > 0 {
		best := r.search(ctx)       // 3. GPUs by job and virtual node
		r.trim(best)                // 4. one GPU type a job
		settler{r}.settleDown(best) // 5. if the nodes changed, no job moves without need
		r.start(best)               // 6. no job waits while it could have idle GPUs
		reasons{r}.decide(best)     // 7. placements, with reasons
	}
	m.changed = false
	return r.plan
}

// believe returns what is believed of a job.
func (p *Policy) believe(s *policy.Snapshot, j *policy.Job) *belief {
	b := p.beliefs[j.ID]
	if b == nil {
		b = &belief{}
		p.beliefs[j.ID] = b
	}
	b.refresh(j, s.Cluster.Types())
	b.seen = s.Round
	return b
}

// forget drops what was believed of jobs that are gone.
func (p *Policy) forget(s *policy.Snapshot) {
	for id, b := range p.beliefs {
		if b.seen != s.Round {
			delete(p.beliefs, id)
			delete(p.last.granted, id)
		}
	}
}

// search returns the fittest matrix found, and keeps the population.
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

// beginning returns what the jobs hold, and the last population, with the rows of jobs
// that are still there. Source: Pollux §4.2.1.
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
