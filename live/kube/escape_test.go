package kube

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// escaping returns a backend whose job "a" runs on all GPUs of n0.
func escaping(t *testing.T) (*Backend, *kubetest.Cluster, job.ID) {
	t.Helper()
	twin := newTwin()
	id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 4}).UID)
	w := open(t, twin, options(v1alpha1.Resize))
	news(t, w)
	do(t, w, runOn(id, on("n0", 4)))
	pass(t, w, twin)
	news(t, w)
	return w, twin, id
}

// free returns how many GPUs of node n0 the scheduler may assign, by the last of some events.
func free(t *testing.T, all []scheduler.Event) int {
	t.Helper()
	has := -1
	for _, ev := range all {
		if n, is := ev.(scheduler.NodesChanged); is {
			has = gpus(n.Cluster, "n0")
		}
	}
	return has
}

// A job that is deleted and keeps its object, by a finalizer, leaves the queue. Its pods still use their GPUs, so no
// other job is planned there until they are gone.
func TestEscape_by_finalizer(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		w, twin, id := escaping(t)
		j := twin.Job("a")
		j.Finalizers = []string{"example.com/x"}
		twin.Update(j)
		if err := twin.Client().Delete(t.Context(), j, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
		pass(t, w, twin)
		all := news(t, w)
		if gone := exits(all); len(gone) != 1 || gone[0].Job != id || gone[0].Outcome != scheduler.Cancelled {
			t.Errorf("exits %+v, want that a is cancelled", gone)
		}
		if got := free(t, all); got != 0 {
			t.Errorf("%d GPUs of n0 may be assigned, want 0: the pod of a runs there", got)
		}
		b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 4}).UID)
		pass(t, w, twin)
		do(t, w, runOn(b, on("n1", 4)))
		pass(t, w, twin)
		if got := places(twin, "b"); got != "0 n1 1" {
			t.Errorf("b runs at %q, want n1", got)
		}
		news(t, w)
		for _, p := range twin.PodsOf("a") {
			twin.Remove(p)
		}
		pass(t, w, twin)
		if got := free(t, news(t, w)); got != 4 {
			t.Errorf("%d GPUs of n0 may be assigned, want 4: the pod is gone", got)
		}
	})
}

// A running job stays in its queue and its plan whatever owner is written into it, and can be stopped.
func TestEscape_by_owner(t *testing.T) {
	for name, uid := range map[string]string{"an invented one": "11111111-2222-3333-4444-555555555555", "its own job": ""} {
		bubble(t, name, func(t *testing.T) {
			w, twin, id := escaping(t)
			j := twin.Job("a")
			by := metav1.OwnerReference{APIVersion: "ray.io/v1", Kind: "RayJob", Name: "none", UID: "u", Controller: new(true)}
			if uid == "" {
				by.UID = j.UID
			}
			j.OwnerReferences = []metav1.OwnerReference{by}
			twin.Update(j)
			pass(t, w, twin)
			if all := news(t, w); len(all) != 0 || !w.Has(id) {
				t.Errorf("events %+v, in the queue: %v; want no event, and the job in the queue", all, w.Has(id))
			}
			do(t, w, scheduler.Preempt{Job: id})
			pass(t, w, twin)
			if got := places(twin, "a"); got != "" {
				t.Errorf("it runs at %q, want it stopped", got)
			}
		})
	}
}

// A running job that names a Kueue queue afterwards, of a Kueue that is not there, can still be stopped.
func TestEscape_by_Kueue(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		w, twin, id := escaping(t)
		j := twin.Job("a")
		j.Labels["kueue.x-k8s.io/queue-name"] = "nope"
		twin.Update(j)
		pass(t, w, twin)
		do(t, w, scheduler.Preempt{Job: id})
		pass(t, w, twin)
		if got := places(twin, "a"); got != "" {
			t.Errorf("it runs at %q, want it stopped", got)
		}
	})
}

// A job that opts out and comes back is planned again with the GPUs that it has.
func TestEscape_by_opting_out_and_back(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		w, twin, id := escaping(t)
		for _, out := range []string{"true", "false"} {
			j := twin.Job("a")
			j.Annotations = map[string]string{v1alpha1.OptOut: out}
			twin.Update(j)
			pass(t, w, twin)
			all := news(t, w)
			pass(t, w, twin)
			all = append(all, news(t, w)...)
			if got := free(t, all); out == "true" && got != 0 {
				t.Errorf("%d GPUs of n0 may be assigned, want 0: the job has them and has opted out", got)
			}
		}
		if e := w.table.ByID[id]; e == nil || e.Held.GPUs != 4 || e.Held.Placement[0].Node != cluster.NodeID("n0") {
			t.Errorf("job %+v, want it to hold 4 GPUs of n0", e)
		}
		if got := gpus(w.extent.cluster, "n0"); got != 4 {
			t.Errorf("%d GPUs of n0 are planned, want 4", got)
		}
	})
}

// A waiting job that leaves its queue and comes back, and a running one that opts out and comes back, are scheduled
// again by the same leader.
func TestEscape_and_back(t *testing.T) {
	for _, workers := range []int{1, 3} { // 3 do not fit
		bubble(t, fmt.Sprint(workers), func(t *testing.T) {
			twin := newTwin()
			s := newStage(t, twin, options(v1alpha1.Resize), "fifo")
			defer s.end()
			j := twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: workers, GPUs: 4})
			s.live(15 * time.Second)
			first := s.backend
			for _, out := range []bool{true, false} {
				j = twin.Job("a")
				j.Annotations = map[string]string{v1alpha1.OptOut: fmt.Sprint(out)}
				if workers == 3 {
					j.Annotations, j.Labels = nil, map[string]string{v1alpha1.QueueLabel: map[bool]string{true: "other", false: queue}[out]}
				}
				twin.Update(j)
				s.live(15 * time.Second)
			}
			if s.backend != first {
				t.Error("the leader ended, want it to schedule the job again")
			}
			if !s.backend.Has(job.ID(j.UID)) {
				t.Error("the job is not scheduled")
			}
		})
	}
}

// A job whose starts fail, and whose annotations are spoilt meanwhile, does not keep the GPUs that were planned for it.
func TestEscape_by_a_spoilt_annotation(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		s := newStage(t, twin, options(v1alpha1.Resize), "fifo")
		defer s.end()
		j := twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 4})
		j.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/topology"}} // nothing removes it
		twin.Update(j)
		s.live(15 * time.Second)
		j = twin.Job("a")
		j.Annotations[v1alpha1.MaxGPUs] = "banana"
		twin.Update(j)
		s.live(3 * time.Minute)
		if a := twin.Plan(queue).Spec.Allocations[0]; a.GPUs != 0 {
			t.Errorf("%d GPUs are planned for it, want none", a.GPUs)
		}
	})
}

// A running job that somebody suspends stays suspended, also under the next leader. Others get its GPUs. It starts again
// when its annotation is removed.
func TestSuspended_by_somebody(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		s := newStage(t, twin, options(v1alpha1.Resize), "fifo")
		defer s.end()
		twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 4})
		s.live(15 * time.Second)
		j := twin.Job("a")
		j.Spec.Suspend = new(true)
		twin.Update(j)
		twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 2, GPUs: 4, Looks: 300})
		s.live(time.Minute)
		s.crash()
		s.live(time.Minute)
		if a, b := places(twin, "a"), places(twin, "b"); a != "" || b == "" || !*twin.Job("a").Spec.Suspend {
			t.Errorf("a runs at %q and b at %q, want only b, and a suspended", a, b)
		}
		s.live(5 * time.Minute) // b ends
		if a := places(twin, "a"); a != "" {
			t.Errorf("a runs at %q, want it suspended", a)
		}
		j = twin.Job("a")
		delete(j.Annotations, v1alpha1.Started)
		twin.Update(j)
		s.live(30 * time.Second)
		if places(twin, "a") == "" {
			t.Error("a does not run without its annotation")
		}
	})
}

// A running job whose parallelism is set to 0 does not keep its planned GPUs.
func TestEscape_by_no_workers(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		w, twin, _ := escaping(t)
		j := twin.Job("a")
		j.Spec.Parallelism = new(int32(0))
		twin.Update(j)
		pass(t, w, twin)
		if lost := exits(news(t, w)); len(lost) != 1 || lost[0].Outcome != scheduler.Lost {
			t.Errorf("exits %+v, want that a has lost its GPUs", lost)
		}
	})
}
