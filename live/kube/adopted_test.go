package kube

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
)

// A job that a leader takes over without a Plan runs on while one waits that has more to do, whatever the
// policy: of the history that is lost nothing makes it worth a stop.
func TestAdopted_runs_on(t *testing.T) {
	for _, policy := range []string{"fifo", "srtf", "oxgang"} {
		bubble(t, policy, func(t *testing.T) {
			twin := newTwin()
			o := options(v1alpha1.Resize)
			o.Queue.Spec.Policy.Name = policy
			twin.Submit(queue, &kubetest.Ask{Name: "long", Workers: 2, GPUs: 4, Annotations: map[string]string{v1alpha1.RunSeconds: "1000000"}})
			s := newStage(t, twin, o, policy)
			defer s.end()
			s.live(2 * time.Minute)
			before := uids(twin, "long")
			if before == "" {
				t.Fatal("it does not run")
			}
			s.end()
			twin.Submit(queue, &kubetest.Ask{Name: "waits", Workers: 2, GPUs: 4, Annotations: map[string]string{v1alpha1.RunSeconds: "2000000"}})
			twin.Remove(twin.Plan(queue))
			s.lead()
			s.live(5 * time.Minute)
			if after := uids(twin, "long"); after != before {
				t.Errorf("pods %s, want those that ran before: %s; %+v", after, before, twin.Plan(queue).Spec.Allocations)
			}
		})
	}
}
