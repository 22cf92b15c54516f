package kube

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A pod of a job that has no GPUs, as the head of a RayJob or the driver of a JobSet, is none of
// its workers: they do not wait until it is gone, and it counts for none of them, also when it
// has succeeded.
func TestSteps_of_a_job_with_pods_without_GPUs(t *testing.T) {
	for _, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded} {
		bubble(t, string(phase), func(t *testing.T) {
			twin := newTwin()
			w, a := one(t, twin, v1alpha1.Resize)
			head := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: "head", Namespace: kubetest.Namespace, OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "a", UID: types.UID(a), Controller: new(true)}},
			}}
			head.Spec.NodeName, head.Status.Phase = "n0", phase
			twin.Create(head)
			b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 2}).UID)
			pass(t, w, twin)
			do(t, w, runOn(a, on("n0", 2), on("n1", 2)), runOn(b, on("n0", 2)))
			pass(t, w, twin)
			if got := places(twin, "a") + "; " + places(twin, "b"); got != "0 n0 1, 1 n1 1; 0 n0 1" {
				t.Errorf("pods %s, want one of a on each node, and that of b", got)
			}
			if e := w.table.ByID[a]; e.Done() != 0 || !e.Ending.IsZero() {
				t.Errorf("%d workers have succeeded, since %v, want none", e.Done(), e.Ending)
			}
		})
	}
}

// A worker that has succeeded is not made again: a job that starts without it is no start that
// comes to nothing, and no pod of it is missing.
func TestWatch_counts_workers_that_have_succeeded(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, a := trained(t, twin)
		p := twin.PodsOf("a")[0]
		p.Status.Phase = corev1.PodSucceeded
		twin.Update(p)
		pass(t, w, twin)
		time.Sleep(jobstate.ToEnd)
		do(t, w, scheduler.Preempt{Job: a})
		pass(t, w, twin)
		do(t, w, runOn(a, on("n1", 4)))
		pass(t, w, twin)
		if got := places(twin, "a"); got != "1 n1 2" {
			t.Fatalf("pods %s, want the other worker on n1", got)
		}
		if e := w.table.ByID[a]; e.Made() != 2 || e.TrainsIn != 2 {
			t.Errorf("%d workers made, generation %d trains, want 2 and 2", e.Made(), e.TrainsIn)
		}
		time.Sleep(w.o.Start + time.Second)
		pass(t, w, twin)
		if lost := exits(news(t, w)); len(lost) != 0 {
			t.Errorf("%+v, want that it trains on", lost)
		}
	})
}

// A job that was stopped as its first worker ended is complete, if its workers train together: if it is elastic, or its program says so.
// It is made one of that worker. Of another job the other worker has work of its own.
func TestStart_of_one_that_has_ended(t *testing.T) {
	for _, c := range []struct {
		resize string
		speaks bool
		want   int32
	}{{"Restart", false, 1}, {"Never", true, 1}, {"Never", false, 2}} {
		bubble(t, fmt.Sprintf("%s, speaks %v", c.resize, c.speaks), func(t *testing.T) {
			twin := newTwin()
			ask := &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2, Annotations: map[string]string{v1alpha1.ResizeBy: c.resize}}
			if c.resize == "Restart" {
				ask.Annotations[v1alpha1.MinGPUs] = "2"
			}
			a := job.ID(twin.Submit(queue, ask).UID)
			w := open(t, twin, options(v1alpha1.Resize))
			do(t, w, runOn(a, on("n0", 4)))
			pass(t, w, twin)
			if c.speaks {
				w.table.ByID[a].Agent.Hello = hello1(1, 2)
			}
			twin.Hold() // the leader does not see in time that it ends
			looks(t, w, 1)
			p := twin.PodsOf("a")[0]
			p.Status.Phase = corev1.PodSucceeded
			twin.Update(p)
			do(t, w, scheduler.Preempt{Job: a})
			looks(t, w, 1)
			twin.Release()
			pass(t, w, twin)
			do(t, w, runOn(a, on("n1", 4)))
			pass(t, w, twin)
			if j := twin.Job("a"); *j.Spec.Suspend || *j.Spec.Completions != c.want || *j.Spec.Parallelism != c.want {
				t.Errorf("suspended %v, %d completions, %d workers, want it to run with %d", *j.Spec.Suspend, *j.Spec.Completions, *j.Spec.Parallelism, c.want)
			}
			if got := places(twin, "a"); (got == "") != (c.want == 1) {
				t.Errorf("pods %s, want the other one only where it has work of its own", got)
			}
		})
	}
}

// A rigid job of which it is seen late that its first worker had ended when it was stopped has a worker with nobody to train with: it is
// complete a minute after. Where the program says nothing, the other worker goes on.
func TestStarted_again_as_it_ended(t *testing.T) {
	for speaks, want := range map[bool]int32{true: 1, false: 2} {
		bubble(t, fmt.Sprint("speaks ", speaks), func(t *testing.T) {
			twin := newTwin()
			w, a := trained(t, twin)
			p := twin.PodsOf("a")[0]
			p.Status.Phase = corev1.PodSucceeded
			twin.Update(p)
			pass(t, w, twin)
			if speaks {
				w.table.ByID[a].Agent.Hello = hello1(1, 2)
			}
			time.Sleep(jobstate.ToEnd)
			pass(t, w, twin)
			if j := twin.Job("a"); *j.Spec.Completions != want {
				t.Errorf("%d completions a minute after, want %d", *j.Spec.Completions, want)
			}
		})
	}
}

// A job whose workers come to ask for other GPUs than when it was planned is not started by that
// plan, which has no whole workers for it any more.
func TestTakeIn_other_workers_than_planned(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(a, on("n0", 4)))
		j := twin.Job("a")
		eight := corev1.ResourceList{kubetest.GPU: resource.MustParse("8")}
		j.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: eight, Requests: eight}
		twin.Update(j)
		pass(t, w, twin)
		if lost := exits(news(t, w)); len(lost) != 1 || lost[0].Outcome != scheduler.Lost || !strings.Contains(lost[0].Detail, "want whole workers of 8") {
			t.Errorf("%+v, want it lost", lost)
		}
		if !*twin.Job("a").Spec.Suspend {
			t.Error("it was started")
		}
	})
}

// A job that grew in place as its training ended is complete with the workers that have ended: those that joined too late have nobody to
// train with. It is left alone for a minute, in which they may end by themselves.
func TestGrown_as_it_ended(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		elastic := map[string]string{v1alpha1.ResizeBy: "InPlace", v1alpha1.MinGPUs: "2", v1alpha1.MaxGPUs: "4"}
		a := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 1, Annotations: elastic}).UID)
		w := open(t, twin, options(v1alpha1.Resize))
		do(t, w, runOn(a, on("n0", 2)))
		pass(t, w, twin)
		do(t, w, runOn(a, on("n0", 4)))
		pass(t, w, twin)
		if n := len(twin.PodsOf("a")); n != 4 {
			t.Fatalf("%d pods, want it grown to 4", n)
		}
		for _, p := range twin.PodsOf("a")[:2] {
			p.Status.Phase = corev1.PodSucceeded
			twin.Update(p)
		}
		pass(t, w, twin)
		if j := twin.Job("a"); *j.Spec.Completions != 4 {
			t.Errorf("%d completions at once, want it left alone for a minute", *j.Spec.Completions)
		}
		time.Sleep(jobstate.ToEnd)
		pass(t, w, twin)
		if j := twin.Job("a"); *j.Spec.Completions != 2 || *j.Spec.Parallelism != 2 {
			t.Errorf("%d completions, %d workers after a minute, want 2: it is complete", *j.Spec.Completions, *j.Spec.Parallelism)
		}
	})
}
