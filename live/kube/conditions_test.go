package kube

import (
	"testing"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
)

// Somebody writes all conditions of a job as they were before ours was there, as Trainer does. It is written again, once; while
// watches do not show yet what was written, it is not.
func TestPublish_again_what_others_erase(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin, writes := newTwin(), 0
		twin.After = func(c *kubetest.Call) error {
			if c.Right == "patch jobs/status" {
				writes++
			}
			return nil
		}
		w := open(t, twin, options(v1alpha1.Resize))
		twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 1, Annotations: map[string]string{v1alpha1.MaxGPUs: "banana"}})
		looks(t, w, 1)
		twin.Hold()
		looks(t, w, 3)
		if writes != 1 {
			t.Fatalf("%d writes, want one, also while it is not seen", writes)
		}
		twin.Release()
		j := twin.Job("a")
		j.Status.Conditions = nil
		twin.Update(j)
		looks(t, w, 3)
		if got := reason(twin); got != Misconfigured || writes != 2 {
			t.Errorf("told %q by %d writes, want %s again by a second one", got, writes, Misconfigured)
		}
	})
}
