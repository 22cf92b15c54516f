package counterfactual

import (
	"context"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Ignoring returns what a job is granted where some terms together are left out; false if that cannot be decided.
func Ignoring(ctx context.Context, s *policy.Snapshot, id job.ID, d Decider, terms ...policy.Term) (cluster.Configuration, bool) {
	_, got, ok := weigh(ctx, s, id, d.(state), func(w policy.Weigher) { w.Ignore(id, terms...) }) //nolint:forcetypeassert // a recorder's
	return got, ok
}
