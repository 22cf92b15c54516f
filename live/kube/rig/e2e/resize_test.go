package e2e

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// A job that waits suspended is sized, placed and started, and one that there is no room for
// waits until the first has ended.
func TestResize_starts_jobs_in_turn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	ctx := t.Context()
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 2}}})
	Prepare(ctx, t, c)
	k := Client(t, c.Config)
	Serve(t, c, Setup{})
	if err := k.Create(ctx, Queue("train", v1alpha1.Resize, "fifo")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		if err := k.Create(ctx, Job(name, "train", 2, 8, nil)); err != nil {
			t.Fatal(err)
		}
		Until(ctx, t, within, "the plan knows "+name, func() error { return planned(t, k, name) })
	}
	running := func(name string, want int) func() error {
		return func() error {
			if n := podsOf(t, k, name, corev1.PodRunning); n != want {
				return errNot("%d pods of %s run, want %d", n, name, want)
			}
			return nil
		}
	}
	Until(ctx, t, within, "first runs", running("first", 2))
	if err := running("second", 0)(); err != nil {
		t.Fatal(err)
	}
	finish(t, c, k, "first")
	Until(ctx, t, within, "second runs", running("second", 2))
}

// planned returns nothing if the plan has an entry for a job.
func planned(t *testing.T, k client.Client, name string) error {
	var p v1alpha1.Plan
	if err := k.Get(t.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
		return err
	}
	for _, a := range p.Spec.Allocations {
		if a.Name == name {
			return nil
		}
	}
	return errNot("%d jobs in the plan, and not %s", len(p.Spec.Allocations), name)
}

// podsOf returns how many pods of a job are in a phase and not about to go.
func podsOf(t *testing.T, k client.Client, name string, phase corev1.PodPhase) int {
	var pods corev1.PodList
	if err := k.List(t.Context(), &pods, client.InNamespace("default"), client.MatchingLabels{batchv1.JobNameLabel: name}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range pods.Items {
		if pods.Items[i].Status.Phase == phase && pods.Items[i].DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

func finish(t *testing.T, c *rig.Cluster, k client.Client, name string) {
	var pods corev1.PodList
	if err := k.List(t.Context(), &pods, client.InNamespace("default"), client.MatchingLabels{batchv1.JobNameLabel: name}); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if err := c.Exit(t.Context(), &pods.Items[i], 0); err != nil {
			t.Fatal(err)
		}
	}
}
