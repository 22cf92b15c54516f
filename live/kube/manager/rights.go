package manager

import (
	"context"
	"fmt"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// answer is how long to wait for the API server to say what the scheduler may do, and fresh how
// long it is not asked again after it has said yes.
const (
	answer = 5 * time.Second
	fresh  = 30 * time.Second
)

// A right is something that the scheduler does to objects of a kind.
type right struct {
	verb, group, resource, subresource string
	inside                             bool // a namespace of the queue, not everywhere
}

// String returns the right as kubectl auth can-i takes it: "patch jobs.batch/status".
func (r right) String() string {
	text := r.verb + " " + r.resource
	if r.group != "" {
		text += "." + r.group
	}
	if r.subresource != "" {
		text += "/" + r.subresource
	}
	return text
}

// needed are the rights without which a mode cannot do what it is for, beside those of the modes
// before it. The roles of the chart have more: those for kinds of job that a cluster may not have.
var needed = []struct {
	mode   v1alpha1.Mode
	rights []right
}{
	{v1alpha1.Recommend, []right{
		{verb: "create", group: "oxgang.dev", resource: "plans"},
		{verb: "update", group: "oxgang.dev", resource: "plans"},
		{verb: "update", group: "oxgang.dev", resource: "plans", subresource: "status"},
		writesStatus,
		{verb: "patch", group: "batch", resource: "jobs", subresource: "status"},
	}},
	{v1alpha1.Admit, []right{
		{verb: "patch", group: "batch", resource: "jobs", inside: true},
		{verb: "patch", resource: "pods", inside: true},
		{verb: "create", resource: "pods", subresource: "eviction", inside: true},
	}},
	{v1alpha1.Resize, []right{{verb: "patch", resource: "pods", subresource: "resize", inside: true}}},
}

// Rights that single writes need.
var (
	writesStatus = right{verb: "patch", group: "oxgang.dev", resource: "queues", subresource: "status"}
	marksNodes   = right{verb: "patch", resource: "nodes"}
)

// lacks returns why a queue cannot be served: a right that its mode needs and the scheduler does
// not have; empty: it has all. A right in some namespace of the queue is enough.
func (l *leader) lacks(ctx context.Context, q *v1alpha1.Queue) string {
	if q.Spec.Mode == v1alpha1.Observe || q.Spec.Mode == v1alpha1.Off {
		return ""
	}
	for _, n := range needed {
		for _, r := range n.rights {
			if !l.mayIn(ctx, r, q) {
				return fmt.Sprintf("mode %s needs the right to %s, which the scheduler has not: bind the role of the mode (rbac.mode of the chart, or deploy/dist/rights)", n.mode, r)
			}
		}
		if n.mode == q.Spec.Mode {
			break
		}
	}
	if q.Spec.Loans != nil && q.Spec.Mode != v1alpha1.Recommend && !l.may(ctx, marksNodes, "") {
		return "spec.loans needs the right to patch nodes, which the scheduler has not: install it with rbac.loans, or take spec.loans away"
	}
	return ""
}

// mayIn reports whether the scheduler has a right where a queue needs it.
func (l *leader) mayIn(ctx context.Context, r right, q *v1alpha1.Queue) bool {
	if !r.inside || len(q.Spec.Namespaces) == 0 {
		return r.inside || l.may(ctx, r, "")
	}
	for _, n := range q.Spec.Namespaces {
		if l.may(ctx, r, n.Name) {
			return true
		}
	}
	return false
}

// rights are what the API server has allowed lately.
type rights struct {
	mu      sync.Mutex
	allowed map[rightIn]time.Time
}

// A rightIn is a right in a namespace; empty: everywhere.
type rightIn struct {
	right
	namespace string
}

// may reports whether the scheduler has a right. If the API server does not answer, may returns
// true: a queue that is served goes on.
func (l *leader) may(ctx context.Context, r right, namespace string) bool {
	l.rights.mu.Lock()
	defer l.rights.mu.Unlock()
	key := rightIn{r, namespace}
	if at, known := l.rights.allowed[key]; known && time.Since(at) < fresh {
		return true
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource},
	}}
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	if err := l.manager.GetClient().Create(ctx, review); err != nil {
		l.log.Warn("cannot ask what the scheduler may do, so it may", "right", r.String(), "err", err)
		return true
	}
	if review.Status.Allowed {
		if l.rights.allowed == nil {
			l.rights.allowed = make(map[rightIn]time.Time)
		}
		l.rights.allowed[key] = time.Now()
	}
	return review.Status.Allowed
}
