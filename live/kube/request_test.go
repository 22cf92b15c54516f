package kube

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
)

// A job whose speed is not known gets all GPUs that it requests while these are idle, in every mode, and from its first plan.
// The policy has no configuration of 12 GPUs on nodes of 8, so the next larger one is taken. With fewer idle GPUs it starts on these, and grows to its request when the others are free.
func TestRequest_is_met_while_GPUs_are_idle(t *testing.T) {
	may := map[string]string{
		v1alpha1.MinGPUs: "2", v1alpha1.MaxGPUs: "16", v1alpha1.ResizeBy: "Restart", v1alpha1.Checkpoints: "true",
		v1alpha1.BatchSize: "256", v1alpha1.MaxBatchSize: "4096",
	}
	for _, mode := range []v1alpha1.Mode{v1alpha1.Recommend, v1alpha1.Admit, v1alpha1.Resize} {
		for workers, want := range map[int]int32{4: 8, 6: 16, 8: 16} {
			bubble(t, fmt.Sprint(mode, workers), func(t *testing.T) {
				twin := kubetest.New()
				for i := range 5 {
					twin.AddNode(fmt.Sprint("n", i), 8, "A100")
				}
				o := options(mode)
				o.Queue.Spec.Policy.Name = "oxgang"
				twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: workers, GPUs: 2, Annotations: may})
				s := newStage(t, twin, o, "oxgang")
				defer s.end()
				s.live(10 * time.Second)
				if got := twin.Plan(queue).Spec.Allocations; len(got) != 1 || got[0].GPUs != want {
					t.Errorf("planned %+v, want %d GPUs", got, want)
				}
			})
		}
	}
	bubble(t, "others hold some first", func(t *testing.T) {
		twin := newTwin()
		o := options(v1alpha1.Resize)
		o.Queue.Spec.Policy.Name = "oxgang"
		twin.Submit(queue, &kubetest.Ask{Name: "first", Workers: 1, GPUs: 4, Annotations: map[string]string{v1alpha1.NonPreemptible: "true"}})
		s := newStage(t, twin, o, "oxgang")
		defer s.end()
		s.live(10 * time.Second)
		twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 4, GPUs: 2, Annotations: may})
		s.live(2 * time.Minute)
		for _, want := range []int32{4, 8} {
			all := twin.Plan(queue).Spec.Allocations
			if a := all[len(all)-1]; a.Name != "a" || a.GPUs < 2 || a.GPUs > want || want == 8 && a.GPUs != 8 {
				t.Errorf("planned %d GPUs for %s, want up to %d", a.GPUs, a.Name, want)
			}
			twin.Delete("first")
			s.live(2 * time.Minute)
		}
	})
}
