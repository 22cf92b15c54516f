package kube

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// newBackend returns a backend of one empty queue, as Open leaves it, of a cluster that a and b
// show: a as watches do, b as the API server does.
func newBackend(t testing.TB, a client.Client, b client.Reader) *Backend {
	t.Helper()
	o := jobstate.DefaultOptions()
	o.Queue, o.Kinds = &v1alpha1.Queue{}, nil
	o.Queue.Name, o.Queue.Spec.Mode = "q", v1alpha1.Resize
	none, err := cluster.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := assemble(a, b, &o)
	w.extent.cluster, w.table.Plan = none, &v1alpha1.Plan{}
	return w
}

// A job that is deleted right after something was written of it has ended, although no watch
// ever showed the write.
func TestTakeIn_deleted_before_the_write_was_seen(t *testing.T) {
	w := newBackend(t, nil, nil)
	e := &jobstate.Job{Entry: driver.Entry{ID: "u"}, Parsed: &jobadapter.Job{UID: "u"}, Held: jobstate.Grant{Generation: 1}, Times: jobstate.Times{StaleSince: time.Now()}}
	w.table.ByID["u"], w.table.Order, w.writer.Unseen["u"] = e, []*jobstate.Job{e}, 7
	w.reconcile(&observe.Observation{})
	ev := w.Events.Take(time.Now())
	if exit, ok := ev.(scheduler.Exited); !ok || exit.Job != "u" || exit.Outcome != scheduler.Cancelled {
		t.Errorf("got %#v, want that job u is cancelled", ev)
	}
}

// listed is a cluster of pods: what a list of them returns, in turn, the last one ever after.
type listed struct {
	client.Client
	lists [][]string
}

// List implements client.Reader.
func (p *listed) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	switch l := l.(type) {
	case *corev1.PodList:
		for i, name := range p.next() {
			l.Items = append(l.Items, corev1.Pod{ObjectMeta: metaOf(i, name)})
		}
	case *metav1.PartialObjectMetadataList:
		if l.Kind != "PodList" && l.Kind != "Pod" {
			return nil
		}
		for i, name := range p.next() {
			l.Items = append(l.Items, metav1.PartialObjectMetadata{ObjectMeta: metaOf(i, name)})
		}
		l.ResourceVersion = "100"
	}
	return nil
}

func metaOf(i int, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: fmt.Sprint(10 + i)}
}

func (p *listed) next() []string {
	l := p.lists[0]
	if len(p.lists) > 1 {
		p.lists = p.lists[1:]
	}
	return l
}

// A new leader does not wait for watches to show what was deleted while it waited.
func TestCatchUpWith_what_is_deleted_meanwhile(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := newBackend(t, &listed{lists: [][]string{{"a"}}}, &listed{lists: [][]string{{"a", "b"}, {"a"}}})
	if err := w.observer.CatchUp(ctx); err != nil {
		t.Error(err)
	}
}

// latePods is a client whose watch does not show pods yet.
type latePods struct{ client.Client }

func (l latePods) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	if _, is := list.(*corev1.PodList); is {
		return nil
	}
	return l.Client.List(ctx, list, o...)
}

// Pods that the watch is late to show are read from the API server, and sent to their nodes; a new leader
// reads them, too, before it plans, and does not wait. While nothing is overdue none are read.
func TestPass_reads_pods_that_the_watch_is_late_to_show(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		twin := newTwin()
		id := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 1, Annotations: map[string]string{v1alpha1.ResizeBy: "InPlace"}}).UID)
		reads := 0
		twin.Listed = func(list client.ObjectList, _ *client.ListOptions) {
			if _, is := list.(*corev1.PodList); is {
				reads++
			}
		}
		late := func() *Backend {
			w, err := Open(t.Context(), latePods{twin.Client()}, twin.Direct(), options(v1alpha1.Resize))
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		w := late()
		looks(t, w, 3)
		if reads != 0 {
			t.Errorf("pods were read %d times where none are awaited", reads)
		}
		do(t, w, runOn(id, on("n0", 2)))
		for range 4 {
			looks(t, w, 1)
			twin.Settle()
			time.Sleep(2 * observe.Prompt)
		}
		if got := places(twin, "a"); got != "0 n0 1, 1 n0 1" {
			t.Errorf("pods %q, want them sent to their nodes", got)
		}
		looks(t, w, 1)
		if len(w.writer.Unseen) != 0 {
			t.Errorf("%d writes to be shown, want none: what was written was read", len(w.writer.Unseen))
		}
		began := time.Now()
		w = late()
		if took := time.Since(began); took > 2*observe.Prompt || len(w.table.ByID[id].Pods) != 2 {
			t.Errorf("it leads after %v and knows of %d pods, want both at once", took, len(w.table.ByID[id].Pods))
		}
	})
}

// The scheduler hears that a waiting job did not get what was planned for it: a worker of 8
// GPUs on two nodes.
func TestApply_tells_of_what_cannot_be(t *testing.T) {
	w := newBackend(t, nil, nil)
	e := &jobstate.Job{Entry: driver.Entry{ID: "u"}, Parsed: &jobadapter.Job{UID: "u", PerWorker: cluster.Resources{GPUs: 8}}, Spec: &job.Spec{ID: "u"}}
	w.table.ByID["u"], w.table.Order = e, []*jobstate.Job{e}
	r := scheduler.Run{Job: "u", Placement: cluster.Placement{
		{Node: "a", Resources: cluster.Resources{GPUs: 6}}, {Node: "b", Resources: cluster.Resources{GPUs: 2}},
	}}
	r.Allocation.Configuration = cluster.Configuration{Nodes: 2, GPUs: 8, GPUType: "a100"}
	d, err := w.apply(t.Context(), []scheduler.Action{r})
	if err != nil || d.changed {
		t.Errorf("changed %v, %v, want nothing to write", d.changed, err)
	}
	if exit, ok := w.Events.Take(time.Now()).(scheduler.Exited); !ok || exit.Job != "u" || exit.Outcome != scheduler.Lost {
		t.Errorf("got %#v, want that job u lost what was planned", exit)
	}
}

// A job that opts out while it runs has ended for the scheduler, and what it runs is somebody
// else's.
func TestTakeIn_a_job_that_opts_out(t *testing.T) {
	w := newBackend(t, nil, nil)
	e := &jobstate.Job{Entry: driver.Entry{ID: "u"}, Parsed: &jobadapter.Job{UID: "u"}, Held: jobstate.Grant{Generation: 1}}
	w.table.ByID["u"], w.table.Order = e, []*jobstate.Job{e}
	f := observe.ObservedJob{Parsed: &jobadapter.Job{UID: "u", OptOut: true, Generation: 1}}
	if w.observer.Takes(&f) {
		t.Error("its pods are taken for ours")
	}
	w.reconcile(&observe.Observation{Jobs: []observe.ObservedJob{f}})
	if exit, ok := w.Events.Take(time.Now()).(scheduler.Exited); !ok || exit.Outcome != scheduler.Cancelled {
		t.Errorf("got %#v, want that job u is cancelled", exit)
	}
}
