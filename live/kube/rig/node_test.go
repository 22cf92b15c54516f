package rig

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
)

// soon is a Job whose pods leave a node that nobody hears of after a second.
func soon(j *batchv1.Job) {
	second := int64(1)
	j.Spec.Template.Spec.Tolerations = []corev1.Toleration{{
		Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists,
		Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &second,
	}}
}

func (b *bench) ready(ctx context.Context, node string) corev1.ConditionStatus {
	n, err := b.client.CoreV1().Nodes().Get(ctx, node, v1.GetOptions{})
	if err != nil {
		return ""
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

// The pod of a lost node is deleted but stays until the node returns; then another takes
// its place. A node that falls silent is found out by its lease.
func TestLostNodeKeepsItsPodUntilItReturns(t *testing.T) {
	b := newBench(t, Options{NodeLease: 8 * time.Second, Nodes: []Nodes{{Name: "n", Type: "NVIDIA-H200", Count: 3}}})
	b.create(job("train", 2, ungated, soon, ignoring))
	b.running("train", 2)
	lost := b.pods(t.Context(), "train")[0]
	b.ok(b.Lose(t.Context(), lost.Spec.NodeName))

	get := func(ctx context.Context) *corev1.Pod {
		p, err := b.client.CoreV1().Pods("default").Get(ctx, lost.Name, v1.GetOptions{})
		if err != nil {
			return nil
		}
		return p
	}
	b.until("the pod to be deleted", func(ctx context.Context) bool { p := get(ctx); return p != nil && p.DeletionTimestamp != nil })
	// One round of another pod's whole life is long enough for kwok to let it go, if it did.
	b.create(job("probe", 1, ungated))
	b.running("probe", 1)
	for _, p := range b.pods(t.Context(), "probe") {
		b.ok(b.Exit(t.Context(), &p, 3))
	}
	b.until("a failure of probe", func(ctx context.Context) bool { return b.get(ctx, "probe").Status.Failed == 1 })
	if p := get(t.Context()); p == nil || p.Status.Phase != corev1.PodRunning {
		t.Fatalf("pod of the lost node: %+v, want one that still seems to run", p)
	}
	b.ok(b.client.BatchV1().Jobs("default").Delete(t.Context(), "probe", v1.DeleteOptions{PropagationPolicy: new(v1.DeletePropagationBackground)}))

	b.ok(b.Return(t.Context(), lost.Spec.NodeName))
	b.until("the pod to be gone", func(ctx context.Context) bool { return get(ctx) == nil })
	b.running("train", 2)
	b.until("the node to be ready", func(ctx context.Context) bool { return b.ready(ctx, lost.Spec.NodeName) == corev1.ConditionTrue })

	b.ok(b.Silence(t.Context(), "n-2"))
	if s := b.ready(t.Context(), "n-2"); s != corev1.ConditionTrue {
		t.Errorf("node that fell silent is Ready=%s at once, want True", s)
	}
	b.until("the silence to be noticed", func(ctx context.Context) bool { return b.ready(ctx, "n-2") == corev1.ConditionUnknown })
}

// A Job is created suspended, given another size, labels and a gate, and then resumed.
func TestSuspendedJobIsResizedAndResumed(t *testing.T) {
	b := newBench(t, Options{Lean: true, Nodes: []Nodes{{Name: "n", Type: "NVIDIA-H200", Count: 300}}})
	b.create(job("train", 2, ungated, func(j *batchv1.Job) { j.Spec.Suspend = new(true) }))
	b.until("the Job to be seen as suspended", func(ctx context.Context) bool {
		c := b.get(ctx, "train").Status.Conditions
		return len(c) > 0 && c[0].Type == batchv1.JobSuspended
	})
	b.patchJob("train", map[string]any{"spec": map[string]any{
		"parallelism": 5, "completions": 5, "suspend": false,
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"oxgang.dev/generation": "1"}},
			"spec":     map[string]any{"schedulingGates": []any{map[string]any{"name": "oxgang.dev/placement"}}},
		},
	}})
	b.until("5 pods", func(ctx context.Context) bool { return len(b.pods(ctx, "train")) == 5 })
	for i, p := range b.pods(t.Context(), "train") {
		if p.Labels["oxgang.dev/generation"] != "1" || len(p.Spec.SchedulingGates) != 1 || p.Spec.NodeName != "" {
			t.Errorf("pod %s: labels %v, gates %v, node %q, want a generation, a gate and no node",
				p.Name, p.Labels, p.Spec.SchedulingGates, p.Spec.NodeName)
		}
		b.pin(&p, fmt.Sprintf("n-%d", 50*i))
	}
	b.running("train", 5)

	// Once more: what ran is suspended, and then changed and resumed in one write.
	b.suspend("train", true)
	b.until("no pods", func(ctx context.Context) bool { return b.none(ctx, "train") })
	b.patchJob("train", map[string]any{"spec": map[string]any{
		"parallelism": 3, "completions": 3, "suspend": false,
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"oxgang.dev/generation": "2"}},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "worker", "image": "train", "resources": map[string]any{
				"limits": map[string]any{"nvidia.com/gpu": "8", "cpu": "16", "memory": "64Gi"},
			}}}},
		},
	}})
	b.until("3 pods", func(ctx context.Context) bool { return len(b.pods(ctx, "train")) == 3 })
	for _, p := range b.pods(t.Context(), "train") {
		if cpu := p.Spec.Containers[0].Resources.Requests.Cpu().Value(); p.Labels["oxgang.dev/generation"] != "2" || cpu != 16 {
			t.Errorf("pod %s: labels %v, %d cores, want generation 2 and 16 cores", p.Name, p.Labels, cpu)
		}
	}
}
