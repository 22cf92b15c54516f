package manager

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
)

// answer is how long the API server may take to say what the scheduler may do.
const answer = 5 * time.Second

// mayLend reports whether a queue needs no right that the scheduler has not: nodes are marked
// as lent where jobs are started. As long as nobody can say, it may: nothing stops because the
// API server does not answer.
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
