package e2e

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/policy"
)

// TestPriority: under a policy that serves by priority, a job whose pods name a PriorityClass of a high value passes one that
// waits longer; where the queue bounds priorities, it does not. The scheduler has the rights of the chart, and no more.
func TestPriority(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	ctx := t.Context()
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 1}}})
	if err := c.Install(ctx, Root+"/deploy/dist/install.yaml", Root+"/deploy/dist/rights/resize.yaml"); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	b.create(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000})
	Serve(t, c, Setup{Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system"})
	b.create(Queue("train", v1alpha1.Resize, "easy"))
	first := Job("first", "train", 1, 8, nil)
	b.awaitRules(first)
	b.runs("first", 1)
	for last, bounded := range []bool{false, true} {
		runs := []string{"first", "urgent-0"}[last]
		if bounded {
			b.patch(`{"spec":{"limits":{"maxPriority":0}}}`)
		}
		older, urgent := "older-"+string(rune('0'+last)), "urgent-"+string(rune('0'+last))
		b.create(Job(older, "train", 1, 8, nil))
		time.Sleep(1100 * time.Millisecond) // creation has whole seconds
		j := Job(urgent, "train", 1, 8, nil)
		j.Spec.Template.Spec.PriorityClassName = "urgent"
		b.create(j)
		Until(ctx, t, within, "the plan knows both", func() error {
			if err := planned(t, b.k, older); err != nil {
				return err
			}
			return planned(t, b.k, urgent)
		})
		b.deleted(runs)
		winner, loser := urgent, older
		if bounded {
			winner, loser = "older-0", urgent // of all that wait the oldest
		}
		t.Logf("bounded %v: %s runs after %v", bounded, winner, b.runs(winner, 1))
		if n := podsOf(t, b.k, loser, corev1.PodRunning); n != 0 {
			t.Errorf("%d pods of %s run beside it", n, loser)
		}
	}
}

// deleted removes a job with its pods.
func (b *bench) deleted(job string) {
	b.Helper()
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: job, Namespace: "default"}}
	if err := b.k.Delete(b.Context(), j, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		b.Fatal(err)
	}
}

// TestPriority_stops: under the default policy a job of a higher class preempts a preemptible job of a lower
// class. The preempted job gets the reason, and runs again later. If the queue bounds priorities, nothing is
// preempted. The scheduler has only the chart's rights.
func TestPriority_stops(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 1}}})
	if err := c.Install(t.Context(), Root+"/deploy/dist/install.yaml", Root+"/deploy/dist/rights/resize.yaml"); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, Cluster: c, k: Client(t, c.Config)}
	b.create(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000})
	Serve(t, c, Setup{Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system"})
	b.create(Queue("train", v1alpha1.Resize, "oxgang"))
	low := Job("low", "train", 1, 8, map[string]string{v1alpha1.RunSeconds: "1000"})
	b.awaitRules(low)
	t.Logf("alone: low runs after %v", b.runs("low", 1))
	b.create(urgent("first"))
	t.Logf("first runs after %v, in the place of low", b.runs("first", 1))
	Until(t.Context(), t, within, "low waits for a higher priority", func() error { return waitsFor(t, b.k, "low", policy.WaitPriority.String()) })
	b.deleted("first")
	t.Logf("low runs again %v after first has gone", b.runs("low", 1))
	b.patch(`{"spec":{"limits":{"maxPriority":0}}}`)
	b.create(urgent("second"))
	Until(t.Context(), t, within, "the plan knows second", func() error { return planned(t, b.k, "second") })
	time.Sleep(5 * time.Second) // five rounds
	if low, second := podsOf(t, b.k, "low", corev1.PodRunning), podsOf(t, b.k, "second", corev1.PodRunning); low != 1 || second != 0 {
		t.Errorf("of a queue without priorities: %d pods of low run, and %d of second, want 1 and 0", low, second)
	}
}

func urgent(name string) *batchv1.Job {
	j := Job(name, "train", 1, 8, map[string]string{v1alpha1.RunSeconds: "1000"})
	j.Spec.Template.Spec.PriorityClassName = "urgent"
	return j
}

// waitsFor reports whether the plan gives a job no GPUs, and why.
func waitsFor(t *testing.T, k client.Client, name, reason string) error {
	var p v1alpha1.Plan
	if err := k.Get(t.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
		return err
	}
	for i := range p.Spec.Allocations {
		if a := &p.Spec.Allocations[i]; a.Name == name && a.GPUs == 0 && a.Reason == reason {
			return nil
		}
	}
	return errNot("%+v", p.Spec.Allocations)
}
