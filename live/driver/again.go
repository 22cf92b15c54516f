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

// copyRounds is the number of rounds between copies of the policy's state. A copy costs less than a round.
const copyRounds = 64

// A redecider decides the last round again, for explanations.
type redecider struct {
	ahead *whatif.Predictor
	at    func(context.Context, time.Time) (*policy.Snapshot, counterfactual.Decider, error)
	after whatif.Decided
}

// remember wraps a policy so that its rounds can be decided again.
func (d *Driver) remember(p policy.Policy) policy.Policy {
	r := counterfactual.NewRecorder(p, d.o.newPolicy, copyRounds)
	d.again = &redecider{at: r.At, after: r.After}
	return r
}

// A decided is the last round with a copy of the policy's state. It can be decided again any number of times.
type decided struct {
	then    *policy.Snapshot
	plan    *policy.Plan
	decider counterfactual.Decider
	ended   []job.ID // after the round
}

// last returns the last round, or an error if no copy of the policy's state reaches it. The copy that it makes
// costs nearly as much as a decision.
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

// weighed returns the terms of a job's priority in the last round; false if they are not known.
func (r *redecider) weighed(ctx context.Context, id job.ID) (policy.Terms, bool) {
	d, err := r.last(ctx)
	if err != nil {
		return policy.Terms{}, false
	}
	return counterfactual.Weigh(ctx, d.then, id, d.decider)
}

// find returns the cheapest change that would give a job more GPUs. Jobs that ended after the round are left out.
// ends is the time until other jobs end.
func (d *decided) find(ctx context.Context, id job.ID, ends map[job.ID]time.Duration) (*counterfactual.Change, error) {
	s, p := counterfactual.Remaining(d.then, d.plan, d.ended)
	return counterfactual.Find(ctx, s, p, id, d.decider, ends)
}
