package kube

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/scheduler"
)

// A job whose starts come to nothing again and again keeps no GPUs from others while it waits
// for its next attempt, and is planned for again after that.
func TestRetry_plans_nothing_meanwhile(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		e := w.table.ByID[id]
		eligible := func() bool {
			pass(t, w, twin)
			for _, ev := range slices.Backward(news(t, w)) {
				if d, ok := ev.(scheduler.Described); ok {
					return d.Spec.Eligible("a100")
				}
			}
			return e.Spec.Eligible("a100")
		}
		for range jobstate.Tries - 1 {
			e.Fail(time.Now())
		}
		if !eligible() {
			t.Fatalf("after %d failures nothing is planned for it, want that from %d on", e.Failures, jobstate.Tries)
		}
		e.Setback = "no pod came"
		e.Fail(time.Now())
		if eligible() {
			t.Fatal("it is planned for while it backs off")
		}
		s, err := w.observer.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if v := w.publisher.verdict(s, &s.Jobs[0], &v1alpha1.JobAllocation{}); v.reason != StepFailed || !strings.Contains(v.message, e.Setback) {
			t.Errorf("people are told %+v, want why it was given up", v)
		}
		time.Sleep(time.Until(e.NotBefore))
		if !eligible() {
			t.Error("it is not planned for when it may be tried again")
		}
	})
}
