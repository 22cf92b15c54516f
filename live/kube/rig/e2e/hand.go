package e2e

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A Hand lets a test write the plans of a queue itself, through the scheduler's backend.
type Hand struct {
	testing.TB
	backend *kube.Backend
	k       client.Client
}

// Plan takes over a queue until the test ends. Jobs get only GPUs that the test gives them.
func Plan(t testing.TB, k client.Client, q *v1alpha1.Queue) *Hand {
	t.Helper()
	o := jobstate.DefaultOptions()
	o.Queue, o.Identity = q, "hand"
	w, err := kube.Open(t.Context(), indexed{k}, k, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.Execute(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("hand: %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return &Hand{t, w, k}
}

type indexed struct{ client.Client }

func (c indexed) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := new(client.ListOptions).ApplyOptions(opts)
	few, ok := list.(*corev1.PodList)
	if !ok || o.FieldSelector == nil {
		return c.Client.List(ctx, list, opts...)
	}
	key, ok := o.FieldSelector.RequiresExactMatch(inventory.Index)
	if !ok {
		return c.Client.List(ctx, list, opts...)
	}
	o.FieldSelector = nil
	if err := c.Client.List(ctx, few, o); err != nil {
		return err
	}
	few.Items = slices.DeleteFunc(few.Items, func(p corev1.Pod) bool { return !slices.Contains(inventory.Keys(&p), key) })
	return nil
}

// A Gift states which GPUs and CPUs a job gets, on one node.
type Gift struct {
	Job  string
	Node cluster.NodeID
	GPUs int
	CPUs float64
}

// Give writes one plan with these gifts. Jobs without a gift get nothing.
func (h *Hand) Give(all ...Gift) {
	h.Helper()
	var actions []scheduler.Action
	for _, g := range all {
		a := scheduler.Run{Job: h.id(g.Job)}
		c := h.backend.Cluster()
		i, there := c.Index(g.Node)
		if !there {
			h.Fatalf("the queue has no node %s", g.Node)
		}
		a.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: g.GPUs, GPUType: c.Nodes()[i].GPUType}
		a.Allocation.CPUs = g.CPUs
		a.Placement = cluster.Placement{{Node: g.Node, Resources: cluster.Resources{GPUs: g.GPUs, CPUs: g.CPUs}}}
		actions = append(actions, a)
	}
	if err := h.backend.Do(h.Context(), actions); err != nil {
		h.Fatal(err)
	}
}

func (h *Hand) id(name string) job.ID {
	h.Helper()
	var j batchv1.Job
	Until(h.Context(), h, within, "the queue has job "+name, func() error {
		if err := h.k.Get(h.Context(), client.ObjectKey{Namespace: "default", Name: name}, &j); err != nil {
			return err
		}
		if !h.backend.Has(job.ID(j.UID)) {
			return errNot("it has not")
		}
		return nil
	})
	return job.ID(j.UID)
}
