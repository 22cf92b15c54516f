package kube

import (
	"context"
	"errors"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

func TestDispossess(t *testing.T) {
	bubble(t, "of two jobs of a node with fewer GPUs, the one that was submitted last loses them", func(t *testing.T) {
		twin := newTwin()
		a := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 2}).UID)
		b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 1, GPUs: 2}).UID)
		w := open(t, twin, options(v1alpha1.Resize))
		do(t, w, runOn(a, on("n0", 2)), runOn(b, on("n0", 2)))
		pass(t, w, twin)
		news(t, w)
		stranger := twin.Submit("other", &kubetest.Ask{Name: "x", Workers: 1, GPUs: 2})
		*stranger.Spec.Suspend = false
		stranger.Spec.Template.Spec.NodeName = "n0"
		twin.Update(stranger)
		pass(t, w, twin)
		lost := exits(news(t, w))
		if len(lost) != 1 || lost[0].Job != b || lost[0].Outcome != scheduler.Lost || !strings.Contains(lost[0].Detail, "n0 has only 2 of the 4 GPUs") {
			t.Errorf("%+v, want %s lost", lost, b)
		}
	})
	bubble(t, "a node that is not ready any more loses all", func(t *testing.T) {
		twin := newTwin()
		w, a := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(a, on("n0", 2), on("n1", 2)))
		pass(t, w, twin)
		news(t, w)
		twin.SetReady("n1", false)
		pass(t, w, twin)
		if lost := exits(news(t, w)); len(lost) != 1 || lost[0].Outcome != scheduler.Lost {
			t.Errorf("%+v, want it lost", lost)
		}
		do(t, w)
		if p := twin.Plan(queue).Spec.Allocations[0]; p.GPUs != 0 || p.Generation != 1 {
			t.Errorf("%+v, want that the plan says so", p)
		}
	})
	bubble(t, "a node with GPUs of another type ends the backend", func(t *testing.T) {
		twin := newTwin()
		w, _ := one(t, twin, v1alpha1.Resize)
		twin.AddNode("n2", 8, "H100")
		pass(t, w, twin)
		if _, err := w.Next(t.Context(), w.Now()); !errors.Is(err, ErrTypes) {
			t.Errorf("%v, want ErrTypes", err)
		}
	})
}

func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*kubetest.Cluster)
		want scheduler.Outcome
	}{
		{"complete", func(twin *kubetest.Cluster) { twin.End("a", batchv1.JobComplete) }, scheduler.Done},
		{"failed", func(twin *kubetest.Cluster) { twin.End("a", batchv1.JobFailed) }, scheduler.Failed},
		{"deleted", func(twin *kubetest.Cluster) { twin.Delete("a") }, scheduler.Cancelled},
	} {
		bubble(t, c.name, func(t *testing.T) {
			twin := newTwin()
			w, id := trained(t, twin)
			c.end(twin)
			pass(t, w, twin)
			end := exits(news(t, w))
			if len(end) != 1 || end[0].Outcome != c.want || end[0].Job != id || len(w.table.Order) != 0 || w.Has(id) {
				t.Errorf("%+v with %d jobs left, want it %v and forgotten", end, len(w.table.Order), c.want)
			}
			twin.Delete("a")
			pass(t, w, twin)
			if n := len(w.table.Over) + len(w.publisher.published) + w.observer.Parsed() + len(w.table.ByID) + len(w.members) + len(w.writer.Unseen); n != 0 {
				t.Errorf("%d things are remembered of a job that is gone, want none", n)
			}
		})
	}
}

// hasJobSet is a client of a cluster with the JobSet x.
type hasJobSet struct{ client.Client }

func (c hasJobSet) Get(ctx context.Context, k client.ObjectKey, o client.Object, of ...client.GetOption) error {
	if o.GetObjectKind().GroupVersionKind().Kind != "JobSet" {
		return c.Client.Get(ctx, k, o, of...)
	}
	o.SetUID(types.UID(k.Name))
	return nil
}

// What a part of a job says is read once for each of its versions, as what jobs say is, and it is
// no job.
func TestLook_reads_parts_of_jobs_once(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 2})
		o := options(v1alpha1.Resize)
		o.Kinds = jobadapter.Kinds[:2]
		w, err := Open(t.Context(), hasJobSet{twin.Client()}, twin.Direct(), o)
		if err != nil {
			t.Fatal(err)
		}
		part := twin.Submit(queue, &kubetest.Ask{Name: "a-part", Workers: 1, GPUs: 1})
		part.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "x", UID: "x", Controller: new(true)}}
		twin.Update(part)
		pass(t, w, twin)
		if w.observer.Parsed() != 2 || len(w.table.Order) != 1 {
			t.Errorf("%d objects parsed, of which %d are jobs; want 2 and 1", w.observer.Parsed(), len(w.table.Order))
		}
	})
}

// No placer gives a job part of a worker. If one did, the scheduler hears that it was lost.
func TestDo_refuses_part_of_a_worker(t *testing.T) {
	bubble(t, "of a job that waits", func(t *testing.T) {
		twin := newTwin()
		w, id := one(t, twin, v1alpha1.Resize)
		do(t, w, runOn(id, on("n0", 3), on("n1", 1)))
		if lost := exits(news(t, w)); len(lost) != 1 || lost[0].Outcome != scheduler.Lost {
			t.Errorf("%+v, want it lost", lost)
		}
		if p := twin.Plan(queue); len(p.Spec.Allocations) != 1 || p.Spec.Allocations[0].GPUs != 0 {
			t.Errorf("%+v, want nothing for it", p.Spec)
		}
	})
	bubble(t, "of one that runs", func(t *testing.T) {
		twin := newTwin()
		w, id := trained(t, twin)
		do(t, w, runOn(id, on("n0", 3), on("n1", 1)))
		if lost := exits(news(t, w)); len(lost) != 1 || lost[0].Outcome != scheduler.Lost {
			t.Errorf("%+v, want it lost", lost)
		}
		pass(t, w, twin)
		if got := places(twin, "a"); got != "" {
			t.Errorf("pods %s, want none", got)
		}
	})
}
