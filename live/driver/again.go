package driver

import (
	"context"
	"errors"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// copyRounds is the number of rounds between copies of the policy's state.
const copyRounds = 64

type redecider struct {
	ahead *whatif.Predictor
	at    func(context.Context, time.Time) (*policy.Snapshot, counterfactual.Decider, error)
	after whatif.Decided
}

func (d *Driver) remember(p policy.Policy) policy.Policy {
	r := counterfactual.NewRecorder(p, d.o.newPolicy, copyRounds)
	d.again = &redecider{at: r.At, after: r.After}
	return r
}

type decided struct {
	then    *policy.Snapshot
	plan    *policy.Plan
	decider counterfactual.Decider
	ended   []job.ID // after the round
}

func (r *redecider) last(ctx context.Context) (*decided, error) {
	s, p := r.ahead.Last()
	if s == nil || p.Refused != "" {
		return nil, errors.New("no round")
	}
	then, d, err := r.at(ctx, s.Now)
	if err != nil {
		return nil, err
	}
	return &decided{then, p, d, r.ahead.Ended()}, nil
}

func (r *redecider) weighed(ctx context.Context, id job.ID) (policy.Terms, bool) {
	d, err := r.last(ctx)
	if err != nil {
		return policy.Terms{}, false
	}
	return counterfactual.Weigh(ctx, d.then, id, d.decider)
}

func (d *decided) find(ctx context.Context, id job.ID, ends map[job.ID]time.Duration) (*counterfactual.Change, error) {
	s, p := counterfactual.Remaining(d.then, d.plan, d.ended)
	return counterfactual.Find(ctx, s, p, id, d.decider, ends)
}
