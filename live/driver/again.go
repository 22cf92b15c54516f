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

// copyRounds is after how many rounds the state of the policy is copied, so that the rounds since
// can be decided again. A copy costs less than a round.
const copyRounds = 64

// A redecider decides the last round again.
type redecider struct {
	ahead *whatif.Predictor // has the last round
	at    func(context.Context, time.Time) (*policy.Snapshot, counterfactual.Decider, error)
	after whatif.Decided
}

// remember returns the policy with a memory of its rounds.
func (d *Driver) remember(p policy.Policy) policy.Policy {
	r := counterfactual.NewRecorder(p, d.o.newPolicy, copyRounds)
	d.again = &redecider{at: r.At, after: r.After}
	return r
}

// A decided is the last round, which can be decided again as often as one likes.
type decided struct {
	then    *policy.Snapshot
	plan    *policy.Plan
	decider counterfactual.Decider
	ended   []job.ID // since
}

// last returns the last round. It returns an error if that cannot be decided again: it was long
// ago, or another policy stood in. It copies the state of the policy, which costs nearly as much
// as to decide.
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

// weighed returns what a job counted in the last round; false if that is not known.
func (r *redecider) weighed(ctx context.Context, id job.ID) (policy.Terms, bool) {
	d, err := r.last(ctx)
	if err != nil {
		return policy.Terms{}, false
	}
	return counterfactual.Weigh(ctx, d.then, id, d.decider)
}

// find returns the cheapest change that would give a job more GPUs than the round did, without the jobs that have ended since; ends says
// in how long others end.
func (d *decided) find(ctx context.Context, id job.ID, ends map[job.ID]time.Duration) (*counterfactual.Change, error) {
	s, p := counterfactual.Left(d.then, d.plan, d.ended)
	return counterfactual.Find(ctx, s, p, id, d.decider, ends)
}
