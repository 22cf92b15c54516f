package kube

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/scheduler"
)

// conditioned returns the reason and the message of the condition of job "a".
func conditioned(twin *kubetest.Cluster) string {
	for _, c := range twin.Job("a").Status.Conditions {
		if c.Type == v1alpha1.ScheduledCondition {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

// A started job whose pods kube-scheduler does not place, or nobody creates, keeps its GPUs only for a short time, and
// its condition states that. Each failure makes the time longer, and the pause before the next try.
func TestUnplaced(t *testing.T) {
	for name, created := range map[string]bool{"its pods have no node": true, "nobody creates its pods": false} {
		bubble(t, name, func(t *testing.T) {
			twin := newTwin()
			w, id := one(t, twin, v1alpha1.Resize)
			before := time.Duration(0)
			for range 3 {
				do(t, w, runOn(id, on("n0", 4)))
				looks(t, w, 2)
				if created {
					twin.Control()
				}
				looks(t, w, 1)
				began := time.Now()
				time.Sleep(2 * placementDelay)
				looks(t, w, 3)
				if got := conditioned(twin); !strings.HasPrefix(got, "Unschedulable: only 0 of 2 pods have a node") {
					t.Errorf("condition %q, want that it states that no pod has a node", got)
				}
				var lost []scheduler.Exited
				for len(lost) == 0 && time.Since(began) < time.Hour {
					time.Sleep(time.Second)
					looks(t, w, 1)
					lost = exits(news(t, w))
				}
				took := time.Since(began)
				if took > w.o.Start || took <= before || len(lost) != 1 || !strings.Contains(lost[0].Detail, "kube-scheduler placed only 0 of 2 pods") {
					t.Errorf("lost after %v (before: %v): %+v", took, before, lost)
				}
				if before == 0 && took > jobstate.Bind+2*time.Second {
					t.Errorf("lost after %v, want %v", took, jobstate.Bind)
				}
				if e := w.table.ByID[id]; !slices.Contains(e.Spec.GPUTypes, nowhere) {
					t.Errorf("then it is %+v, want that others get the GPUs", e.Spec)
				}
				before = took
				twin.Settle()
				pass(t, w, twin)
				time.Sleep(time.Until(w.table.ByID[id].NotBefore))
				pass(t, w, twin)
				news(t, w)
			}
		})
	}
}

// A job whose pods get more GPUs than its template requests, as by a LimitRange, is stopped.
func TestUnplaced_with_other_GPUs(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(id, on("n0", 4)))
		looks(t, w, 2)
		twin.Control()
		for _, p := range twin.PodsOf("a") {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "side", Image: "side", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{kubetest.GPU: resource.MustParse("1")}}})
			twin.Update(p)
		}
		looks(t, w, 1)
		if lost := exits(news(t, w)); len(lost) != 1 || !strings.Contains(lost[0].Detail, "requests 3 GPUs, but its template 2") {
			t.Errorf("%+v, want that it is lost: its pods request 3 GPUs each", lost)
		}
	})
}

// A job whose pods kube-scheduler would bind nowhere gets no GPUs, and its condition names the selector. Once a node has
// the label it is planned, on that node only.
func TestUnplaced_by_a_selector(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		j := twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 4})
		j.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "big"}
		twin.Update(j)
		w := open(t, twin, options(v1alpha1.Resize))
		e := w.table.Order[0]
		looks(t, w, 2)
		if got := conditioned(twin); !slices.Contains(e.Spec.GPUTypes, nowhere) || !strings.Contains(got, "Unschedulable: ") || !strings.Contains(got, "pool=big") {
			t.Errorf("condition %q, planned as %+v, want that it waits for a node with pool=big", got, e.Spec)
		}
		n := twin.Node("n1")
		n.Labels["pool"] = "big"
		twin.Update(n)
		looks(t, w, 1)
		if slices.Contains(e.Spec.GPUTypes, nowhere) {
			t.Error("it is not planned, although a node has the label")
		}
		news(t, w)
		do(t, w, runOn(e.ID, on("n0", 4)))
		if lost := exits(news(t, w)); len(lost) != 1 || !strings.Contains(lost[0].Detail, "would not accept the planned nodes") {
			t.Errorf("%+v, want that n0 is rejected", lost)
		}
		time.Sleep(time.Until(e.NotBefore))
		do(t, w, runOn(e.ID, on("n1", 4)))
		pass(t, w, twin)
		if got := places(twin, "a"); got != "0 n1 1" {
			t.Errorf("it runs at %q, want n1", got)
		}
	})
}
