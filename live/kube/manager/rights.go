package manager

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
)

// answer is how long to wait for the API server to say what the scheduler may do.
const answer = 5 * time.Second

// mayLend reports whether the scheduler may patch nodes, or the queue does not need that: only
// a queue that lends nodes and starts jobs marks nodes. If the API server does not answer,
// mayLend returns true: a queue that is served goes on.
func (l *leader) mayLend(ctx context.Context, q *v1alpha1.Queue) bool {
	if q.Spec.Loans == nil || q.Spec.Mode != v1alpha1.Admit && q.Spec.Mode != v1alpha1.Resize {
		return true
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "patch", Resource: "nodes"},
	}}
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	if err := l.manager.GetClient().Create(ctx, review); err != nil {
		l.log.Warn("cannot ask whether nodes may be lent, so they may", "queue", q.Name, "err", err)
		return true
	}
	return review.Status.Allowed
}
