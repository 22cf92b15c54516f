package audit

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Plans checks invariant I11: the epoch and the round of a plan never decrease, even if the plan is deleted and created
// again.
type Plans struct{ last map[string]v1alpha1.PlanSpec }

// Name implements [Check].
func (k *Plans) Name() string { return "I11 plans" }

// See implements [Check].
func (k *Plans) See(_ *State, c *Change) []Finding {
	p, ok := as[*v1alpha1.Plan](c.New)
	if !ok {
		return nil
	}
	was := k.last[p.Name]
	if k.last == nil {
		k.last = map[string]v1alpha1.PlanSpec{}
	}
	k.last[p.Name] = p.Spec
	if p.Spec.Epoch >= was.Epoch && p.Spec.Round >= was.Round {
		return nil
	}
	return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf(
		"epoch %d, round %d after epoch %d, round %d, want neither to decrease",
		p.Spec.Epoch, p.Spec.Round, was.Epoch, was.Round)}}
}

// Epochs checks invariant I17: no write for a queue has an epoch above its plan's, or below an earlier write's.
type Epochs struct{ newest map[string]int64 }

// Name implements [Check].
func (k *Epochs) Name() string { return "I17 epochs" }

// See implements [Check].
func (k *Epochs) See(s *State, c *Change) []Finding {
	e, queue, ok := s.stamped(c)
	if !ok {
		return nil
	}
	if k.newest == nil {
		k.newest = map[string]int64{}
	}
	newest, plan := k.newest[queue], s.epochOf(queue)
	k.newest[queue] = max(e, newest)
	switch {
	case e > plan:
		return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf(
			"written with epoch %d, want at most %d as in the plan of queue %q", e, plan, queue)}}
	case e < newest:
		return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf(
			"written with epoch %d after one of epoch %d for queue %q, want no older one", e, newest, queue)}}
	}
	return nil
}

// Fence checks the strictest form of invariant I17: no write has an epoch below its plan's. It may fail without a bug:
// admission reads plans through a watch, so writes of the old leader may pass while the watch lags.
type Fence struct{}

// Name implements [Check].
func (Fence) Name() string { return "I17 fence" }

// See implements [Check].
func (k Fence) See(s *State, c *Change) []Finding {
	e, queue, ok := s.stamped(c)
	if !ok {
		return nil
	}
	if plan := s.epochOf(queue); e < plan {
		return []Finding{{k.Name(), c.Revision, c.Key, fmt.Sprintf(
			"written with epoch %d, want %d as in the plan of queue %q", e, plan, queue)}}
	}
	return nil
}

// stamped returns the epoch that a change wrote, and its queue; "": unknown. A change by the scheduler that leaves
// the epoch unchanged counts too.
func (s *State) stamped(c *Change) (epoch int64, queue string, ok bool) {
	if c.New == nil {
		return 0, "", false
	}
	text, has := c.New.Meta.GetAnnotations()[v1alpha1.Epoch]
	if !has || c.Old != nil && c.Old.Meta.GetAnnotations()[v1alpha1.Epoch] == text && !ours(c) {
		return 0, "", false
	}
	epoch, err := strconv.ParseInt(text, 10, 64)
	return epoch, s.queueOf(c.New), err == nil
}

const scheduler = "oxgang"

// ours reports whether the scheduler changed an object other than its status. The second of two changes within one
// second is missed.
func ours(c *Change) bool {
	at := func(o *Object) (at time.Time) {
		for _, e := range o.Meta.GetManagedFields() {
			if e.Manager == scheduler && e.Subresource == "" && e.Time != nil {
				at = e.Time.Time
			}
		}
		return at
	}
	return c.Old != nil && at(c.New).After(at(c.Old))
}

func (s *State) queueOf(o *Object) string {
	if q := o.Meta.GetLabels()[v1alpha1.QueueLabel]; q != "" {
		return q
	}
	if p, ok := as[*corev1.Pod](o); ok {
		if job := s.jobOf(p); job != nil {
			return job.Meta.GetLabels()[v1alpha1.QueueLabel]
		}
	}
	return ""
}

func (s *State) jobOf(p *corev1.Pod) *Object {
	uid := p.Labels[v1alpha1.JobUID]
	if uid == "" {
		return nil
	}
	return s.ByUID(types.UID(uid))
}

func (s *State) epochOf(queue string) (epoch int64) {
	for p := range s.Plans() {
		if queue == "" || p.Name == queue {
			epoch = max(epoch, p.Spec.Epoch)
		}
	}
	return epoch
}
