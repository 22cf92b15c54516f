package shockwave

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/grant"
)

// A Policy is Shockwave, which plans several rounds ahead (Options.Window) which jobs run in each round.
type Policy struct {
	o              Options
	accounts       map[job.ID]*account
	active         []*account // in this round, by submission
	cluster        *cluster.Cluster
	types          []cluster.GPUType
	free           []int // GPUs to share, by type; never modified in place
	configurations []cluster.Configuration
	window         *window // nil: none yet
	failed         string
}

// New returns a Policy, or all errors in o, joined.
func New(o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("shockwave: %w", err)
	}
	return &Policy{o: o, accounts: map[job.ID]*account{}}, nil
}

// Traits implements policy.Policy.
func (*Policy) Traits() policy.Traits {
	return policy.Traits{Models: true, Sizes: true}
}

// Plan implements policy.Policy.
func (p *Policy) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("shockwave: round %d: %w", s.Round, err)
	}
	r := grant.NewRound(s) // 1. fixed decisions
	p.update(s, r)         // 2. forecasts of all other jobs
	p.accept(s)            // 3. the window that was planned meanwhile
	p.serve(s, r)          // 4. jobs of this round
	plan := r.Plan()
	p.explain(s, r, plan)
	if p.outdated(s) { // 5. plan from the next round on
		plan.Background = p.plan(s, plan)
	}
	return plan, nil
}

func (p *Policy) count(s *policy.Snapshot, r *grant.Round) (moved bool) {
	free, types := r.FreeByType(), []cluster.GPUType{}
	for _, t := range s.Cluster.Types() {
		types = append(types, t.Type)
	}
	if s.Cluster != p.cluster {
		p.configurations = nil
	}
	moved = s.Cluster != p.cluster || !slices.Equal(free, p.free)
	p.cluster, p.free, p.types = s.Cluster, free, types
	return moved
}

func (p *Policy) accept(s *policy.Snapshot) {
	switch found := s.Computed.(type) {
	case *window:
		p.window, p.failed = found, ""
	case error:
		p.failed = found.Error()
	}
}

// outdated reports whether the window no longer fits the jobs and GPUs. Source: Shockwave §6.1, §7.
func (p *Policy) outdated(s *policy.Snapshot) bool {
	w := p.window
	if w == nil || w.over(s.Round+1) || !slices.Equal(w.free, p.free) || !slices.Equal(w.types, p.types) {
		return true
	}
	here := 0
	for _, a := range p.active {
		if len(a.options) == 0 {
			continue
		}
		batch, planned := w.batches[a.row.ID]
		if !planned || batch != a.batch && !p.o.Lazy {
			return true
		}
		here++
	}
	return here != len(w.batches)
}
