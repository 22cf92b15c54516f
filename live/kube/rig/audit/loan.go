package audit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Loan checks invariant I8: a returned node has no unfinished pod of the queue that borrowed it, neither bound nor
// released for it.
type Loan struct{}

// Name implements [Check].
func (Loan) Name() string { return "I8 loan" }

// See implements [Check].
func (k Loan) See(s *State, c *Change) (found []Finding) {
	from := lentTo(c.Old)
	if from == "" || c.New == nil || lentTo(c.New) == from {
		return nil
	}
	for _, p := range s.byNode[c.Key.Name] {
		if s.queueOf(s.Get(Key{pods, p.Namespace, p.Name})) == from {
			found = append(found, Finding{k.Name(), c.Revision, c.Key, fmt.Sprintf(
				"goes back from queue %s with pod %s/%s on it, want none", from, p.Namespace, p.Name)})
		}
	}
	return found
}

func lentTo(o *Object) string {
	if _, ok := as[*corev1.Node](o); !ok {
		return ""
	}
	return o.Meta.GetLabels()[v1alpha1.LoanLabel]
}
