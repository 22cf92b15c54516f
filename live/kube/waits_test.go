package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A job for which the queue has too few GPUs only because of foreign pods waits, and is not called impossible. A job that
// the empty nodes do not hold is.
func TestWaits(t *testing.T) {
	for workers, want := range map[int]string{2: "it needs 8 a100 GPUs; the empty nodes of the queue have 8 for it, and pods outside the plan or closed nodes leave 4", 3: "never"} {
		bubble(t, "", func(t *testing.T) {
			twin := newTwin()
			foreign := &corev1.Pod{}
			foreign.Name, foreign.Namespace, foreign.Spec.NodeName = "foreign", "elsewhere", "n0"
			foreign.Spec.Containers = []corev1.Container{{Name: "c", Image: "c", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{kubetest.GPU: resource.MustParse("1")}}}}
			twin.Create(foreign)
			j := twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: workers, GPUs: 4})
			o := options(v1alpha1.Resize)
			why := said{job.ID(j.UID): {policy.Impossible.String(), "it asks for more than there is, and never runs"}}
			o.Explain = func(*policy.Snapshot, *policy.Plan) jobstate.Reasons { return why }
			w := open(t, twin, o)
			news(t, w)
			w.Round(&policy.Snapshot{}, &policy.Plan{}, nil)
			do(t, w)
			got := twin.Plan(queue).Spec.Allocations[0]
			if waits := got.Reason == policy.WaitNoCapacity.String(); waits != (workers == 2) || !strings.Contains(got.Message, want) {
				t.Errorf("%d workers: %s: %q, want %q", workers, got.Reason, got.Message, want)
			}
		})
	}
}
