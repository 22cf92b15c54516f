package kube

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A job all of whose workers are on one node says so itself, and no pod of it is written to; of
// others each pod is.
func TestStart_writes_to_pods(t *testing.T) {
	elastic := map[string]string{v1alpha1.ResizeBy: "InPlace", v1alpha1.MinGPUs: "1", v1alpha1.MaxGPUs: "8"}
	for _, c := range []struct {
		name string
		ask  kubetest.Ask
		at   []cluster.Share
		want int
	}{
		{"on one node", kubetest.Ask{Workers: 4, GPUs: 1}, []cluster.Share{on("n0", 4)}, 0},
		{"on two", kubetest.Ask{Workers: 4, GPUs: 1}, []cluster.Share{on("n0", 2), on("n1", 2)}, 4},
		{"on one, and it may grow beyond it", kubetest.Ask{Workers: 4, GPUs: 1, Annotations: elastic}, []cluster.Share{on("n0", 4)}, 4},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			n := 0
			twin.Before = func(call *kubetest.Call) error {
				if _, is := call.Object.(*corev1.Pod); is && call.Writes() {
					n++
				}
				return nil
			}
			c.ask.Name = "a"
			id := job.ID(twin.Submit(queue, &c.ask).UID)
			w := open(t, twin, options(v1alpha1.Resize))
			do(t, w, runOn(id, c.at...))
			pass(t, w, twin)
			if running := len(twin.PodsOf("a")); running != 4 || n != c.want || w.table.ByID[id].UpSince.IsZero() {
				t.Errorf("%d pods, %d writes to them, up since %v, want 4 that run and %d writes", running, n, w.table.ByID[id].UpSince, c.want)
			}
		})
	}
}

// Where a job is sent to one node, its controller may make up for a pod that has failed until it
// says that it has stopped: the GPUs are not given to another before, though no pod is on them.
func TestRoom_of_pods_that_may_come(t *testing.T) {
	bubble(t, "stop", func(t *testing.T) {
		twin := newTwin()
		w, a, b := behind(t, twin)
		fail(twin, twin.PodsOf("a")...)
		do(t, w, scheduler.Preempt{Job: a}, runOn(b, on("n0", 4)))
		var got []bool
		for range 2 {
			looks(t, w, 1)
			got = append(got, *twin.Job("a").Spec.Suspend, *twin.Job("b").Spec.Suspend)
		}
		if want := []bool{true, true, true, true}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("a and b suspended after one look and after two: %v, want both: nobody has said that a stopped", got)
		}
		pass(t, w, twin)
		if got := places(twin, "a") + places(twin, "b"); got != "0 n0 1" {
			t.Errorf("pods %s, want b's", got)
		}
	})
}

// A job that has just been suspended is not started again before its controller says so: the API
// server would refuse it.
func TestStart_of_one_that_is_stopping(t *testing.T) {
	bubble(t, "stop", func(t *testing.T) {
		twin := newTwin()
		w, a := trained(t, twin)
		do(t, w, scheduler.Preempt{Job: a})
		looks(t, w, 1)
		fail(twin, twin.PodsOf("a")...)
		do(t, w, runOn(a, on("n1", 4)))
		looks(t, w, 2)
		if !*twin.Job("a").Spec.Suspend {
			t.Error("it was started before its controller has stopped it")
		}
		pass(t, w, twin)
		if got := places(twin, "a"); got != "0 n1 2, 1 n1 2" {
			t.Errorf("pods %s, want two on n1", got)
		}
	})
}

// A job that was sent to one node is not grown in place, whatever it says now: pods that come
// would go there.
func TestGrows_where_it_was_sent(t *testing.T) {
	w := newBackend(t, nil, nil)
	w.extent.cluster = twoNodes(t)
	e := elastic("a", 2, 2)
	e.Parsed.Resizing, e.Parsed.Node = v1alpha1.InPlace, "n"
	w.table.ByID["a"], w.table.Order = e, []*jobstate.Job{e}
	a := runOn("a", on("n", 2), on("m", 2))
	e.Held.GPUType = "A100"
	for node, want := range map[string]int64{"n": 2, "": 1} {
		e.Parsed.Node = node
		d, err := w.apply(t.Context(), []scheduler.Action{a})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.held["a"].Generation; got != want {
			t.Errorf("sent to %q: generation %d, want %d", node, got, want)
		}
	}
}

// A start that a leader before has under way when it loses the lead comes too late, also where
// admission does not refuse it: its node is not given to another before.
func TestStart_of_a_leader_before(t *testing.T) {
	bubble(t, "late", func(t *testing.T) {
		twin := newTwin()
		before, a := one(t, twin, v1alpha1.Resize)
		do(t, before, runOn(a, on("n0", 4)))
		s, err := before.observer.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before.reconcile(s)
		under, _ := before.planner().Steps(s, time.Now())
		if len(under) != 1 || under[0].What != "start" {
			t.Fatalf("%d steps under way, want a start", len(under))
		}
		b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 4}).UID)
		w := open(t, twin, options(v1alpha1.Resize))
		do(t, w, scheduler.Preempt{Job: a}, runOn(b, on("n0", 4)))
		pass(t, w, twin)
		if err := under[0].Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		twin.Settle()
		pass(t, w, twin)
		if got := places(twin, "a") + places(twin, "b"); got != "0 n0 1" || !*twin.Job("a").Spec.Suspend {
			t.Errorf("pods %s, a suspended %v, want b's, and a", got, *twin.Job("a").Spec.Suspend)
		}
		if err := twin.Wrong(); err != nil {
			t.Error(err)
		}
	})
}

func twoNodes(t *testing.T) *cluster.Cluster {
	t.Helper()
	four := cluster.Resources{GPUs: 4}
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "A100", Capacity: four}, {ID: "m", GPUType: "A100", Capacity: four}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
