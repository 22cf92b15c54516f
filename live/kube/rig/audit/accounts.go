package audit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Accounts checks invariant I21: in modes Admit and Resize, no pod is bound if its job would then hold more GPUs than
// planned. The job is determined by a pod's controllers, not its labels.
type Accounts struct{}

// Name implements [Check].
func (Accounts) Name() string { return "I21 accounts" }

// See implements [Check].
func (k Accounts) See(s *State, c *Change) []Finding {
	p, ok := as[*corev1.Pod](c.New)
	if !ok || !bound(p) || asks(p)[GPU] == 0 {
		return nil
	}
	old, was := as[*corev1.Pod](c.Old)
	if was && metav1.GetControllerOf(old) != nil && metav1.GetControllerOf(p) == nil {
		return []Finding{{k.Name(), c.Revision, c.Key, "it lost its controller while it holds GPUs"}}
	}
	job := s.controller(p)
	if job == nil || was && bound(old) || !s.starts(job) {
		return nil
	}
	var holds int64
	for other := range s.Pods() {
		if bound(other) && s.controller(other) == job {
			holds += asks(other)[GPU]
		}
	}
	if given := s.givenTo(job.Meta.GetUID()); holds > given {
		return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf("%s holds %d GPUs, want at most %d, as planned", job.Key, holds, given)}}
	}
	return nil
}

func (s *State) starts(job *Object) bool {
	q, ok := as[*v1alpha1.Queue](s.Get(Key{queues, "", job.Meta.GetLabels()[v1alpha1.QueueLabel]}))
	return ok && (q.Spec.Mode == v1alpha1.Admit || q.Spec.Mode == v1alpha1.Resize) && job.Meta.GetAnnotations()[v1alpha1.OptOut] != "true"
}

func (s *State) controller(p *corev1.Pod) *Object {
	by := metav1.GetControllerOf(p)
	if by == nil {
		return nil
	}
	if o := s.ByUID(by.UID); o != nil && isJob(o.Key) && o.Key.Namespace == p.Namespace {
		return o
	}
	return nil
}

func (s *State) givenTo(uid types.UID) int64 {
	if a := s.planned(string(uid)); a != nil {
		return int64(a.GPUs)
	}
	return 0
}

// Untouched checks that no bound pod of a namespace is stopped before its job has ended or was deleted.
type Untouched struct{ Namespace string }

// Name implements [Check].
func (*Untouched) Name() string { return "untouched" }

// See implements [Check].
func (k *Untouched) See(s *State, c *Change) []Finding {
	old, ok := as[*corev1.Pod](c.Old)
	if !ok || old.Namespace != k.Namespace || !bound(old) || old.DeletionTimestamp != nil {
		return nil
	}
	if now, ok := as[*corev1.Pod](c.New); ok && now.DeletionTimestamp == nil {
		return nil
	}
	if job := s.controller(old); job == nil || job.Meta.GetDeletionTimestamp() != nil || ending(job) {
		return nil
	}
	return []Finding{{k.Name(), c.Revision, c.Key, "stopped, want it left alone"}}
}

// Holds returns how many GPUs the jobs of a queue hold in bound pods, and how many the plan assigns to them.
func (s *State) Holds(queue string) (held, planned int64) {
	for p := range s.Pods() {
		if job := s.controller(p); bound(p) && job != nil && job.Meta.GetLabels()[v1alpha1.QueueLabel] == queue {
			held += asks(p)[GPU]
		}
	}
	for p := range s.Plans() {
		for i := range p.Spec.Allocations {
			if p.Name == queue {
				planned += int64(p.Spec.Allocations[i].GPUs)
			}
		}
	}
	return held, planned
}
