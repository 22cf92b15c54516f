package rig

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
)

// with makes a list of changes.
func with(all ...func(*batchv1.Job)) []func(*batchv1.Job) { return all }

// evict asks the Eviction API to end a pod.
func evict(b *bench, p *corev1.Pod, _ string) {
	b.ok(b.client.PolicyV1().Evictions(p.Namespace).Evict(b.Context(), &policyv1.Eviction{
		ObjectMeta: v1.ObjectMeta{Name: p.Name, Namespace: p.Namespace},
	}))
	b.until("the pod's end", func(ctx context.Context) bool {
		now, err := b.client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, v1.GetOptions{})
		return err != nil || now.DeletionTimestamp != nil
	})
}

// remove deletes a pod.
func remove(b *bench, p *corev1.Pod, _ string) {
	b.ok(b.client.CoreV1().Pods(p.Namespace).Delete(b.Context(), p.Name, v1.DeleteOptions{}))
}

// pause suspends a Job until its pods are gone.
func pause(b *bench, _ *corev1.Pod, name string) {
	b.suspend(name, true)
	b.until("no pods or an end", func(ctx context.Context) bool {
		return b.none(ctx, name) || ended(b.get(ctx, name))
	})
	b.suspend(name, false)
}

// blink suspends a Job and lets it go on at once.
func blink(b *bench, _ *corev1.Pod, name string) {
	b.suspend(name, true)
	b.suspend(name, false)
}

// evictAndPause evicts a pod and suspends its Job before the pod has ended.
func evictAndPause(b *bench, p *corev1.Pod, name string) {
	evict(b, p, name)
	pause(b, p, name)
}

// shrink takes one of two workers away, and gives it back.
func shrink(b *bench, _ *corev1.Pod, name string) {
	for _, n := range []int{1, 2} {
		b.patchJob(name, map[string]any{"spec": map[string]any{"parallelism": n, "completions": n}})
		b.running(name, n)
	}
}

func (b *bench) suspend(name string, yes bool) {
	b.Helper()
	b.patchJob(name, map[string]any{"spec": map[string]any{"suspend": yes}})
}

// ignoring is a Job whose pods may be evicted without it counting as a failure.
func ignoring(j *batchv1.Job) {
	j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		}},
	}}}
}

// slow is a Job whose pods take a second to end.
func slow(j *batchv1.Job) {
	j.Spec.Template.Annotations = map[string]string{StopAfter: "1s"}
}

// strict is a Job that may not fail once.
func strict(j *batchv1.Job) { j.Spec.BackoffLimit = new(int32) }

// What the package's documentation says of the Job controller.
func TestJobControllerCountsFailures(t *testing.T) {
	cluster := newBench(t, Options{Nodes: []Nodes{{Type: "NVIDIA-H200", Count: 32}}})
	for _, test := range []struct {
		name   string
		with   []func(*batchv1.Job)
		do     func(b *bench, p *corev1.Pod, name string)
		failed int32 // status.failed when all has come to rest
		ends   bool  // the Job has failed
	}{
		{"suspended", nil, pause, 0, false},
		{"suspended-strict", with(strict, slow), pause, 0, false},
		{"resumed-at-once", with(strict, slow), blink, 0, false},
		{"evicted", nil, evict, 1, false},
		{"evicted-strict", with(strict), evict, 2, true}, // the other pod is counted when it is ended
		{"evicted-ignored", with(strict, ignoring), evict, 0, false},
		{"evicted-suspended", with(slow), evictAndPause, 1, false},
		{"evicted-suspended-strict", with(strict, slow), evictAndPause, 2, true},
		{"evicted-suspended-ignored", with(strict, slow, ignoring), evictAndPause, 0, false},
		{"deleted", nil, remove, 1, false},
		{"deleted-ignored", with(ignoring), remove, 1, false},
		{"shrunk", with(strict, slow), shrink, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := cluster.in(t)
			b.create(job(test.name, 2, append(test.with, ungated)...))
			b.running(test.name, 2)
			test.do(b, &b.pods(t.Context(), test.name)[0], test.name)
			b.until("rest", func(ctx context.Context) bool { return b.rests(ctx, test.name) })
			j := b.get(t.Context(), test.name)
			if j.Status.Failed != test.failed || ended(j) != test.ends {
				t.Errorf("failed %d times, ended %t, want %d, %t; status %+v",
					j.Status.Failed, ended(j), test.failed, test.ends, j.Status)
			}
		})
	}
}

func ended(j *batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// rests reports whether a Job has come to rest: it has failed, or two pods run, and none is
// on its way out or still to be counted.
func (b *bench) rests(ctx context.Context, name string) bool {
	j := b.get(ctx, name)
	all := b.pods(ctx, name)
	s := j.Status
	none := func(n *int32) bool { return n == nil || *n == 0 }
	return ended(j) || !leaving(all) && b.phase(ctx, name, corev1.PodRunning) == 2 &&
		s.Active == 2 && none(s.Terminating) &&
		(s.UncountedTerminatedPods == nil || len(s.UncountedTerminatedPods.Failed) == 0)
}

// leaving reports whether a pod is being deleted.
func leaving(all []corev1.Pod) bool {
	for i := range all {
		if all[i].DeletionTimestamp != nil {
			return true
		}
	}
	return false
}

func (b *bench) none(ctx context.Context, name string) bool {
	list, err := b.client.CoreV1().Pods("default").List(ctx, v1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	return err == nil && len(list.Items) == 0
}
