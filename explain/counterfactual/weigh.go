package counterfactual

import (
	"context"

	"github.com/oxgang/oxgang/internal/deepcopy"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// Weigh returns what a job counted in a round that can be decided again; false if its policy does not
// weigh jobs, or the job was not in the round.
func Weigh(ctx context.Context, s *policy.Snapshot, id job.ID, d Decider) (policy.Terms, bool) {
	st, ok := d.(state)
	if !ok {
		return policy.Terms{}, false
	}
	own, err := deepcopy.Of(st, unchanging)
	if err == nil {
		s, err = ownComputed(s)
	}
	if err == nil {
		_, err = own.policy.Plan(ctx, s)
	}
	w, ok := own.policy.(policy.Weigher)
	if err != nil || !ok {
		return policy.Terms{}, false
	}
	return w.Weighed(id)
}
