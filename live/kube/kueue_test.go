package kube

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/scheduler"
)

// A Workload is marked while Kueue writes what it says over the job, and may be changed.
func TestMarked(t *testing.T) {
	for _, c := range []struct{ evicted, quota, want bool }{{true, false, true}, {true, true, false}, {false, false, false}, {false, true, false}} {
		given := options(v1alpha1.Resize)
		w := assemble(nil, nil, &given)
		pod := map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "c", "resources": map[string]any{"limits": map[string]any{w.o.Nodes.GPUResource: "1"}}},
		}}}
		o := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{"podSets": []any{map[string]any{"template": pod}}},
			"status": map[string]any{"conditions": []any{
				map[string]any{"type": "Evicted", "status": truth(c.evicted)}, map[string]any{"type": "QuotaReserved", "status": truth(c.quota)},
			}},
		}}
		if got := w.writer.Marked(o, &unstructured.Unstructured{Object: map[string]any{}}, &jobadapter.Grant{Generation: 2}); got != c.want {
			t.Errorf("evicted %v, with quota %v: marked %v, want %v", c.evicted, c.quota, got, c.want)
		}
	}
}

func truth(is bool) string {
	if is {
		return "True"
	}
	return "False"
}

// queued opens a backend with a job that names a queue of Kueue, which does not admit it.
func queued(t *testing.T, twin *kubetest.Cluster, o jobstate.Options) *Backend {
	t.Helper()
	j := twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2})
	j.Labels["kueue.x-k8s.io/queue-name"] = "nope"
	twin.Update(j)
	w := open(t, twin, o)
	news(t, w)
	return w
}

// GPUs are kept for a job that Kueue has to admit as long as a start may take, and not for ever: whoever may
// label a job could keep them from all others.
func TestQuota_is_not_awaited_for_ever(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w := queued(t, twin, options(v1alpha1.Resize))
		a := w.table.Order[0].ID
		do(t, w, runOn(a, on("n0", 4)))
		looks(t, w, 3)
		for _, c := range []struct {
			wait time.Duration
			lost bool
		}{{w.o.Start - time.Second, false}, {2 * time.Second, true}} {
			time.Sleep(c.wait)
			looks(t, w, 1)
			lost := exits(news(t, w))
			if c.lost != (len(lost) == 1 && lost[0].Outcome == scheduler.Lost && strings.Contains(lost[0].Detail, "Kueue has not admitted it")) || !c.lost && len(lost) > 0 {
				t.Fatalf("after another %v: %+v, want it lost: %v", c.wait, lost, c.lost)
			}
		}
		if !w.table.ByID[a].BacksOff(time.Now()) {
			t.Error("it may have GPUs again at once, want that others have their turn")
		}
	})
}

// A job for Kueue in a cluster without it is told so, and gets no GPUs.
func TestQuota_without_Kueue(t *testing.T) {
	for has, want := range map[bool]string{true: "", false: Misconfigured} {
		bubble(t, truth(has), func(t *testing.T) {
			twin := newTwin()
			o := options(v1alpha1.Resize)
			o.Kueue = func() bool { return has }
			w := queued(t, twin, o)
			looks(t, w, 2)
			if got := reason(twin); got != want || len(w.table.Order) == 1 != has {
				t.Errorf("%d jobs planned, told %q, want %q", len(w.table.Order), got, want)
			}
		})
	}
}

// A job that has grown, for whose new pods Kueue has no quota, does without them after as long as a start may take; others get the
// GPUs. Its first workers train on, and more is tried again.
func TestQuota_of_a_slice(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		w, id := onFour(t, twin, true)
		for _, p := range twin.PodsOf("a")[2:] {
			p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: "kueue.x-k8s.io/elastic-job"})
			twin.Update(p)
		}
		looks(t, w, 1)
		news(t, w)
		time.Sleep(w.o.Start - time.Second)
		looks(t, w, 1)
		if got := news(t, w); len(got) != 0 {
			t.Fatalf("%+v, want that Kueue has its time", got)
		}
		time.Sleep(2 * time.Second)
		looks(t, w, 1)
		if got := news(t, w); len(got) != 1 || most(got[0]) != 2 {
			t.Fatalf("%+v, want that the job is one of 2 GPUs at most", got)
		}
		do(t, w, runOn(id, on("n0", 2)))
		pass(t, w, twin)
		says(t, twin, "limited to 2 GPUs for now, because it cannot have more pods: Kueue has no quota for them")
		if n := len(twin.PodsOf("a")); n != 2 || w.table.ByID[id].Held.Generation != 1 {
			t.Errorf("%d pods of generation %d, want 2 that train on", n, w.table.ByID[id].Held.Generation)
		}
		time.Sleep(jobstate.LongBackoff)
		looks(t, w, 1)
		if got := news(t, w); len(got) == 0 || most(got[len(got)-1]) != 4 {
			t.Errorf("%+v, want that more is tried again", got)
		}
	})
}
