package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// withCPUs is runOn with so many CPUs for the whole job.
func withCPUs(id job.ID, cpus float64, at ...cluster.Share) scheduler.Run {
	a := runOn(id, at...)
	a.Allocation.CPUs = cpus
	return a
}

// cpus returns what the living pods of a job ask for: CPUs and generation, by name.
func cpus(twin *kubetest.Cluster, name string) string {
	var all []string
	for _, p := range twin.PodsOf(name) {
		if !jobstate.Terminal(p) {
			all = append(all, fmt.Sprintf("%s of %d", p.Spec.Containers[0].Resources.Requests.Cpu(), jobstate.Generation(p)))
		}
	}
	return strings.Join(all, ", ")
}

// uids returns those of the pods of a job.
func uids(twin *kubetest.Cluster, name string) string {
	var all []string
	for _, p := range twin.PodsOf(name) {
		all = append(all, string(p.UID))
	}
	return fmt.Sprint(all)
}

// resizes records what is resized, and what node n0 is asked for after each: its 64 CPUs at most.
func resizes(t *testing.T, twin *kubetest.Cluster) *[]string {
	var all []string
	twin.After = func(c *kubetest.Call) error {
		if c.Verb == "resize" {
			name, _, _ := strings.Cut(c.Object.GetName(), "-")
			all = append(all, name)
		}
		if _, is := c.Object.(*corev1.Pod); !is {
			return nil
		}
		var sum float64
		for _, j := range twin.Jobs() {
			for _, p := range twin.PodsOf(j.Name) {
				if !jobstate.Terminal(p) && p.Spec.NodeName == "n0" {
					sum += p.Spec.Containers[0].Resources.Requests.Cpu().AsApproximateFloat64()
				}
			}
		}
		if sum > 64 {
			t.Errorf("node n0 is asked for %g CPUs, and has 64", sum)
		}
		return nil
	}
	return &all
}

// CPUs that a plan gives to running jobs otherwise are theirs without a restart: those that are
// to have less are told first.
func TestFit_in_place(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		all := resizes(t, twin)
		w, a := one(t, twin, v1alpha1.Resize) // two workers of two GPUs
		do(t, w, withCPUs(a, 48, on("n0", 2), on("n1", 2)))
		b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 2}).UID)
		pass(t, w, twin)
		do(t, w, withCPUs(b, 16, on("n0", 2)))
		pass(t, w, twin)
		before := uids(twin, "a") + uids(twin, "b")
		if got := cpus(twin, "a") + "; " + cpus(twin, "b"); got != "24 of 1, 24 of 1; 16 of 1" || len(*all) > 0 {
			t.Fatalf("CPUs %s, resized %v, want them as planned from the start", got, *all)
		}
		do(t, w, withCPUs(b, 44, on("n0", 2)), withCPUs(a, 40, on("n0", 2), on("n1", 2)))
		pass(t, w, twin)
		if got := cpus(twin, "a") + "; " + cpus(twin, "b"); got != "20 of 1, 20 of 1; 44 of 1" || fmt.Sprint(*all) != "[a a b]" {
			t.Errorf("CPUs %s, resized %v, want 20 of 1, 20 of 1; 44 of 1, and a before b", got, *all)
		}
		if after := uids(twin, "a") + uids(twin, "b"); after != before {
			t.Errorf("pods %s, want %s as before", after, before)
		}
		for _, p := range slices.Concat(twin.PodsOf("a"), twin.PodsOf("b")) {
			if p.Annotations[v1alpha1.Epoch] != "1" {
				t.Errorf("pod %s has epoch %q, want 1", p.Name, p.Annotations[v1alpha1.Epoch])
			}
		}
		pass(t, w, twin)
		if len(*all) != 3 {
			t.Errorf("resized %v, want no more", *all)
		}
	})
	bubble(t, "more than a node has left waits", func(t *testing.T) {
		twin := newTwin()
		all := resizes(t, twin)
		w, a := one(t, twin, v1alpha1.Resize)
		b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 2}).UID)
		pass(t, w, twin)
		do(t, w, withCPUs(a, 80, on("n0", 2), on("n1", 2)), withCPUs(b, 20, on("n0", 2)))
		pass(t, w, twin)
		do(t, w, withCPUs(b, 30, on("n0", 2)))
		pass(t, w, twin)
		if got := cpus(twin, "b"); got != "20 of 1" || len(*all) > 0 {
			t.Errorf("CPUs %s, resized %v, want 20 of 1: the node has 4 left", got, *all)
		}
	})
	bubble(t, "a start waits for CPUs that a running job is to leave", func(t *testing.T) {
		twin := newTwin()
		resizes(t, twin)
		w, a := one(t, twin, v1alpha1.Resize)
		do(t, w, withCPUs(a, 120, on("n0", 2), on("n1", 2)))
		b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 2}).UID)
		pass(t, w, twin)
		do(t, w, withCPUs(b, 30, on("n0", 2)), withCPUs(a, 60, on("n0", 2), on("n1", 2)))
		looks(t, w, 1)
		if got := cpus(twin, "a"); got != "30 of 1, 30 of 1" || !*twin.Job("b").Spec.Suspend {
			t.Errorf("CPUs %s, b suspended: %v, want 30 each first", got, *twin.Job("b").Spec.Suspend)
		}
		pass(t, w, twin)
		if got := cpus(twin, "b"); got != "30 of 1" {
			t.Errorf("CPUs %s, want b started with 30", got)
		}
	})
}

// What cannot be is said, and keeps a job from nothing else.
func TestFit_in_vain(t *testing.T) {
	explained := func(w *Backend, id job.ID) {
		w.o.Explain = func(*policy.Snapshot, *policy.Plan) jobstate.Reasons {
			return said{id: {"as asked"}}
		}
		w.Round(&policy.Snapshot{}, nil, nil)
	}
	bubble(t, "a node that cannot", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		explained(w, a)
		do(t, w, withCPUs(a, 20, on("n0", 4)))
		pass(t, w, twin)
		all := resizes(t, twin)
		do(t, w, withCPUs(a, 10, on("n0", 4)))
		pass(t, w, twin)
		for _, p := range twin.PodsOf("a") {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible, Message: "static CPUs"}}
			twin.Update(p)
		}
		pass(t, w, twin)
		if got := reason(twin); got != StepFailed || len(*all) != 2 || !strings.Contains(w.table.ByID[a].Fit.Why, "static CPUs") {
			t.Errorf("reason %s, because %q, resized %v, want %s with what the kubelet says, and two writes", got, w.table.ByID[a].Fit.Why, *all, StepFailed)
		}
		do(t, w, withCPUs(a, 12, on("n0", 4)))
		pass(t, w, twin)
		if len(*all) != 4 {
			t.Errorf("resized %v, want it tried with the next plan", *all)
		}
	})
	bubble(t, "an API server that refuses", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		explained(w, a)
		do(t, w, withCPUs(a, 20, on("n0", 4)))
		pass(t, w, twin)
		tried := 0
		twin.Before = func(c *kubetest.Call) error {
			if c.Verb != "resize" {
				return nil
			}
			tried++
			return apierrors.NewForbidden(corev1.Resource("pods"), c.Object.GetName(), errors.New("not here"))
		}
		do(t, w, withCPUs(a, 10, on("n0", 4)))
		pass(t, w, twin)
		if got := reason(twin); got != StepFailed || tried != 1 || w.table.ByID[a].Failures > 0 {
			t.Errorf("reason %s, tried %d times, %d failures of the job, want %s, once and none", got, tried, w.table.ByID[a].Failures, StepFailed)
		}
		do(t, w, scheduler.Preempt{Job: a})
		pass(t, w, twin)
		if !*twin.Job("a").Spec.Suspend {
			t.Error("it is not stopped")
		}
		twin.Before = nil
		do(t, w, withCPUs(a, 10, on("n0", 4)))
		pass(t, w, twin)
		time.Sleep(time.Hour)
		pass(t, w, twin)
		if got := cpus(twin, "a"); got != "5 of 2, 5 of 2" || w.table.ByID[a].Fit.Why != "" {
			t.Errorf("CPUs %s, because %q, want 5 each from the next start on", got, w.table.ByID[a].Fit.Why)
		}
	})
}

// In mode Admit what runs is left as it is.
func TestFit_not_in_mode_Admit(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		resized := resizes(t, twin)
		w, id := one(t, twin, v1alpha1.Admit)
		for _, n := range []float64{16, 8} {
			do(t, w, withCPUs(id, n, on("n0", 4)))
			pass(t, w, twin)
		}
		if got := cpus(twin, "a"); got != "8 of 1, 8 of 1" || len(*resized) > 0 {
			t.Errorf("pods of %s, resized: %v, want them as they were started", got, *resized)
		}
	})
}

// A leader that reads the plan finds the pods as the one before has left them, however CPUs
// divide.
func TestFit_after_a_takeover(t *testing.T) {
	for _, total := range []float64{7, 7.3333333, 8.9996, 10.00049, 1.0 / 3} {
		bubble(t, fmt.Sprint(total), func(t *testing.T) {
			twin := newTwin()
			id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 3, GPUs: 1}).UID)
			w := open(t, twin, options(v1alpha1.Resize))
			do(t, w, withCPUs(id, total, on("n0", 3)))
			pass(t, w, twin)
			all := resizes(t, twin)
			pass(t, open(t, twin, options(v1alpha1.Resize)), twin)
			if len(*all) > 0 {
				t.Errorf("resized %v, want nothing: %s", *all, cpus(twin, "a"))
			}
		})
	}
}
