package whatif

import (
	"context"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A Decided returns copies of a run's policy and placer in their state after the round at time at, and the policy's
// background work.
type Decided func(ctx context.Context, at time.Time) (policy.Policy, placement.Placer, policy.Work, error)

// DecidedBy returns a Decided that copies the present state of p and ignores the time. Use it if predictions are made
// directly after a round.
func DecidedBy(p policy.Policy, fresh counterfactual.Fresh) Decided {
	return func(context.Context, time.Time) (policy.Policy, placement.Placer, policy.Work, error) {
		own, placer, err := counterfactual.Copy(p, fresh)
		return own, placer, nil, err
	}
}

func (o *Options) decider(ctx context.Context, s *policy.Snapshot, so *scheduler.Options) (policy.Policy, placement.Placer, error) {
	fresh, spare, err := o.Fresh()
	if err != nil || fresh.Traits().Steady || o.Decided == nil || o.Plan == nil || o.Plan.Refused != "" {
		return fresh, spare, err
	}
	if p, placer, work, err := o.Decided(ctx, s.Now); err == nil {
		so.First = soonest
		return newResumed(p, s, o.Plan, work), placer, nil
	}
	return fresh, spare, nil
}

// soonest is the time from the beginning of a simulation to its first round.
const soonest = time.Nanosecond

// A resumed policy continues the policy of a run in a simulation, with the times and round numbers of the run.
type resumed struct {
	policy.Policy
	first  *policy.Plan // nil: it was decided
	rows   map[job.ID]policy.Decision
	by     time.Duration // from simulated times to times of the run
	rounds int
	jobs   map[*policy.Job]*policy.Job // of the last round, as the policy got them
}

func newResumed(p policy.Policy, s *policy.Snapshot, plan *policy.Plan, work policy.Work) *resumed {
	first := *plan
	first.Capacity, first.Return = nil, nil
	if work != nil {
		first.Background = work
	}
	g := &resumed{Policy: p, first: &first, rows: map[job.ID]policy.Decision{}, by: s.Now.Sub(sim.Epoch), rounds: s.Round}
	for i, j := range s.Jobs {
		g.rows[j.ID] = plan.Jobs[i]
	}
	return g
}

func (g *resumed) Plan(ctx context.Context, s *policy.Snapshot) (*policy.Plan, error) {
	if plan := g.first; plan != nil {
		g.first = nil
		plan.Jobs = make([]policy.Decision, len(s.Jobs))
		for i, j := range s.Jobs {
			plan.Jobs[i] = g.rows[j.ID]
			plan.Jobs[i].Placement = slices.Clone(plan.Jobs[i].Placement)
		}
		return plan, nil
	}
	return g.Policy.Plan(ctx, g.shifted(s))
}

// shifted returns a snapshot with the times of the run. A job that did not change keeps its pointer.
func (g *resumed) shifted(s *policy.Snapshot) *policy.Snapshot {
	then := *s
	then.Now, then.Round, then.Jobs = s.Now.Add(g.by), s.Round+g.rounds, make([]*policy.Job, len(s.Jobs))
	jobs := make(map[*policy.Job]*policy.Job, len(s.Jobs))
	for i, j := range s.Jobs {
		own := g.jobs[j]
		if own == nil {
			row := *j
			row.Status = shifted(j.Status, g.by)
			own = &row
		}
		jobs[j], then.Jobs[i] = own, own
	}
	g.jobs = jobs
	return &then
}
