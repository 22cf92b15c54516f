package counterfactual

import (
	"context"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Weigh returns the terms of the weight of job id in a round, and in Terms.Decided those that were decisive. It returns
// false if the policy has no weights or did not plan the job. It makes one plan, and one more for each term.
func Weigh(ctx context.Context, s *policy.Snapshot, id job.ID, d Decider) (policy.Terms, bool) {
	st, ok := d.(state)
	if !ok {
		return policy.Terms{}, false
	}
	x, got, ok := weigh(ctx, s, id, st, nil)
	if !ok {
		return policy.Terms{}, false
	}
	for _, t := range policy.AllTerms() {
		_, without, ok := weigh(ctx, s, id, st, func(w policy.Weigher) { w.Ignore(id, t) })
		if !ok || ctx.Err() != nil { // an unknown result must not look like a term that did not decide
			return policy.Terms{}, false
		}
		if without != got {
			x.Decided = append(x.Decided, t)
		}
	}
	return x, true
}

func weigh(ctx context.Context, s *policy.Snapshot, id job.ID, st state, change func(policy.Weigher)) (x policy.Terms, got cluster.Configuration, ok bool) {
	own, _, err := st.copied()
	w, weighs := own.(policy.Weigher)
	at := s.Index(id)
	if err != nil || !weighs || at < 0 {
		return x, got, false
	}
	if change != nil {
		change(w)
	}
	plan, err := w.Plan(ctx, s)
	if err != nil {
		return x, got, false
	}
	x, ok = w.Weighed(id)
	return x, plan.Jobs[at].Allocation.Configuration, ok
}
