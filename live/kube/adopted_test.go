package kube

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
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
			if before == "[]" {
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

// Beside a job that was taken over without a Plan another one starts: whatever the policy, its plans are not refused for the
// CPUs and the memory that nobody knows of the one that runs.
func TestAdopted_lets_others_start(t *testing.T) {
	for _, policy := range draws.Some(t, 7, []string{"fifo", "easy", "srtf", "las", "afs", "pop", "oxgang"}) {
		bubble(t, policy, func(t *testing.T) {
			twin := newTwin()
			o := options(v1alpha1.Resize)
			o.Queue.Spec.Policy.Name = policy
			run := map[string]string{v1alpha1.RunSeconds: "1000000"}
			twin.Submit(queue, &kubetest.Ask{Name: "keeps", Workers: 1, GPUs: 4, Annotations: run})
			s := newStage(t, twin, o, policy)
			defer s.end()
			s.live(2 * time.Minute)
			before := uids(twin, "keeps")
			s.end()
			twin.Submit(queue, &kubetest.Ask{Name: "comes", Workers: 1, GPUs: 4, Annotations: run})
			twin.Remove(twin.Plan(queue))
			s.lead()
			s.live(5 * time.Minute)
			if after := uids(twin, "keeps"); before == "[]" || after != before {
				t.Errorf("pods %q, want those that ran before: %q", after, before)
			}
			for _, a := range twin.Plan(queue).Spec.Allocations {
				if a.GPUs != 4 {
					t.Errorf("%s has %d GPUs, want 4", a.Name, a.GPUs)
				}
			}
		})
	}
}
