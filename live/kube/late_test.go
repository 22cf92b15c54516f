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

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/observe"
	"github.com/oxgang/oxgang/scheduler"
)

// newWorld returns a world of one empty queue, as Open leaves it, of a cluster that a and b
// show: a as watches do, b as the API server does.
func newWorld(t *testing.T, a client.Client, b client.Reader) *World {
	t.Helper()
	o := config.DefaultOptions()
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
	w := newWorld(t, nil, nil)
	e := &jobstate.Job{Parsed: &jobadapter.Job{UID: "u"}, Held: jobstate.Grant{Generation: 1}, Stale: true}
	w.table.ByID["u"], w.table.Order, w.writer.Unseen["u"] = e, []*jobstate.Job{e}, 7
	w.reconcile(&observe.Observation{})
	ev := w.events.Take(time.Now())
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
	w := newWorld(t, &listed{lists: [][]string{{"a"}}}, &listed{lists: [][]string{{"a", "b"}, {"a"}}})
	if err := w.observer.CatchUp(ctx); err != nil {
		t.Error(err)
	}
}

// The scheduler hears that a waiting job did not get what was planned for it: a worker of 8
// GPUs on two nodes.
func TestApply_tells_of_what_cannot_be(t *testing.T) {
	w := newWorld(t, nil, nil)
	e := &jobstate.Job{Parsed: &jobadapter.Job{UID: "u", PerWorker: cluster.Resources{GPUs: 8}}, Spec: &job.Spec{ID: "u"}}
	w.table.ByID["u"], w.table.Order = e, []*jobstate.Job{e}
	r := scheduler.Run{Job: "u", Placement: cluster.Placement{
		{Node: "a", Resources: cluster.Resources{GPUs: 6}}, {Node: "b", Resources: cluster.Resources{GPUs: 2}},
	}}
	r.Allocation.Configuration = cluster.Configuration{Nodes: 2, GPUs: 8, GPUType: "a100"}
	d, err := w.apply(t.Context(), []scheduler.Action{r})
	if err != nil || d.changed {
		t.Errorf("changed %v, %v, want nothing to write", d.changed, err)
	}
	if exit, ok := w.events.Take(time.Now()).(scheduler.Exited); !ok || exit.Job != "u" || exit.Outcome != scheduler.Lost {
		t.Errorf("got %#v, want that job u lost what was planned", exit)
	}
}

// A job that opts out while it runs has ended for the scheduler, and what it runs is somebody
// else's.
func TestTakeIn_a_job_that_opts_out(t *testing.T) {
	w := newWorld(t, nil, nil)
	e := &jobstate.Job{Parsed: &jobadapter.Job{UID: "u"}, Held: jobstate.Grant{Generation: 1}}
	w.table.ByID["u"], w.table.Order = e, []*jobstate.Job{e}
	f := observe.ObservedJob{Parsed: &jobadapter.Job{UID: "u", OptOut: true, Generation: 1}}
	if w.observer.Takes(&f) {
		t.Error("its pods are taken for ours")
	}
	w.reconcile(&observe.Observation{Jobs: []observe.ObservedJob{f}})
	if exit, ok := w.events.Take(time.Now()).(scheduler.Exited); !ok || exit.Outcome != scheduler.Cancelled {
		t.Errorf("got %#v, want that job u is cancelled", exit)
	}
}
