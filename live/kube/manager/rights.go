package manager

import (
	"context"
	"fmt"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

const (
	answer = 5 * time.Second
	fresh  = 30 * time.Second
)

type right struct {
	verb, group, resource, subresource string
	inside                             bool // not cluster-wide
}

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

var (
	writesStatus = right{verb: "patch", group: "oxgang.dev", resource: "queues", subresource: "status"}
	marksNodes   = right{verb: "patch", resource: "nodes"}
)

func (l *leader) lacks(ctx context.Context, q *v1alpha1.Queue) string {
	if q.Spec.Mode == v1alpha1.Observe || q.Spec.Mode == v1alpha1.Off {
		return ""
	}
	for _, n := range needed {
		for _, r := range n.rights {
			if !l.mayIn(ctx, r, q) {
				return fmt.Sprintf("mode %s needs the right to %s, which the scheduler lacks: bind the role of the mode (rbac.mode of the chart, or deploy/dist/rights)", n.mode, r)
			}
		}
		if n.mode == q.Spec.Mode {
			break
		}
	}
	if q.Spec.Loans != nil && q.Spec.Mode != v1alpha1.Recommend && !l.may(ctx, marksNodes, "") {
		return "spec.loans needs the right to patch nodes, which the scheduler lacks: install the chart with rbac.loans, or remove spec.loans"
	}
	return ""
}

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

type rights struct {
	mu      sync.Mutex
	allowed map[rightIn]time.Time
}

type rightIn struct {
	right
	namespace string
}

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
		l.log.Warn("cannot check a right of the scheduler; assuming that it has it", "right", r.String(), "err", err)
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
