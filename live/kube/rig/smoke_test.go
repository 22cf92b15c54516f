package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// within bounds each wait of a test: far more than any takes on a busy machine.
const within = 90 * time.Second

type bench struct {
	*testing.T
	*Cluster
	client *kubernetes.Clientset
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	c := Start(t, o)
	return &bench{T: t, Cluster: c, client: c.Client()}
}

// in returns b for a subtest.
func (b *bench) in(t *testing.T) *bench {
	return &bench{T: t, Cluster: b.Cluster, client: b.client}
}

// until waits until ok returns true.
func (b *bench) until(what string, ok func(ctx context.Context) bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), within)
	defer cancel()
	if err := poll(ctx, nil, what, func() bool { return ok(ctx) }); err != nil {
		b.Fatal(err)
	}
}

// ok fails the test if there is an error.
func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// job returns an Indexed Job of workers of 8 GPUs, changed by with.
func job(name string, workers int32, with ...func(*batchv1.Job)) *batchv1.Job {
	mode, gate := batchv1.IndexedCompletion, corev1.PodSchedulingGate{Name: v1alpha1.PlacementGate}
	j := &batchv1.Job{
		ObjectMeta: v1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: batchv1.JobSpec{
			Parallelism: &workers, Completions: &workers, CompletionMode: &mode,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, SchedulingGates: []corev1.PodSchedulingGate{gate},
				Containers: []corev1.Container{{
					Name: "worker", Image: "train",
					Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{GPU: resource.MustParse("8")}},
				}},
			}},
		},
	}
	for _, f := range with {
		f(j)
	}
	return j
}

// create creates a Job.
func (b *bench) create(j *batchv1.Job) {
	b.Helper()
	_, err := b.client.BatchV1().Jobs("default").Create(b.Context(), j, v1.CreateOptions{})
	b.ok(err)
}

// get returns a Job.
func (b *bench) get(ctx context.Context, name string) *batchv1.Job {
	j, err := b.client.BatchV1().Jobs("default").Get(ctx, name, v1.GetOptions{})
	if err != nil {
		return &batchv1.Job{}
	}
	return j
}

func (b *bench) pods(ctx context.Context, name string) []corev1.Pod {
	list, err := b.client.CoreV1().Pods("default").List(ctx, v1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	if err != nil {
		return nil
	}
	return list.Items
}

// phase returns how many of a Job's pods are in a phase and not being deleted.
func (b *bench) phase(ctx context.Context, name string, p corev1.PodPhase) int {
	n := 0
	for _, pod := range b.pods(ctx, name) {
		if pod.Status.Phase == p && pod.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// running waits until n pods of a Job run, and no more.
func (b *bench) running(name string, n int) {
	b.Helper()
	b.until(fmt.Sprintf("%d running pods of %s", n, name), func(ctx context.Context) bool {
		return b.phase(ctx, name, corev1.PodRunning) == n
	})
}

func (b *bench) patchJob(name string, patch any) {
	b.Helper()
	data, err := json.Marshal(patch)
	b.ok(err)
	_, err = b.client.BatchV1().Jobs("default").Patch(b.Context(), name, types.MergePatchType, data, v1.PatchOptions{})
	b.ok(err)
}

// pin gives a gated pod a node and takes its gate off.
func (b *bench) pin(p *corev1.Pod, node string) {
	b.Helper()
	p.Spec.SchedulingGates = nil
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}},
	}}
	_, err := b.client.CoreV1().Pods(p.Namespace).Update(b.Context(), p, v1.UpdateOptions{})
	b.ok(err)
}

// ungated is a Job whose pods have no gate.
func ungated(j *batchv1.Job) { j.Spec.Template.Spec.SchedulingGates = nil }

// The whole way of a job, on a cluster of three GPU types: gated pods are pinned to nodes,
// run there, and end when they are told to.
func TestGatedJobRunsWhereItIsPinned(t *testing.T) {
	b := newBench(t, Options{Nodes: []Nodes{
		{Type: "NVIDIA-H200", Count: 40}, {Type: "NVIDIA-A100-SXM4-40GB", Name: "a100", Count: 40}, {Type: "Tesla-T4", Count: 20, GPUs: 4},
	}})
	b.create(job("train", 8))
	b.until("8 gated pods", func(ctx context.Context) bool { return len(b.pods(ctx, "train")) == 8 })

	want := map[string]string{}
	for i, p := range b.pods(t.Context(), "train") {
		want[p.Name] = fmt.Sprintf("a100-%d", 3*i)
		b.pin(&p, want[p.Name])
	}
	b.running("train", 8)
	for _, p := range b.pods(t.Context(), "train") {
		if p.Spec.NodeName != want[p.Name] {
			t.Errorf("pod %s on node %q, want %q", p.Name, p.Spec.NodeName, want[p.Name])
		}
		if !p.Status.ContainerStatuses[0].Ready || p.Status.PodIP == "" {
			t.Errorf("pod %s: status %+v, want a ready container and an address", p.Name, p.Status)
		}
	}

	for _, p := range b.pods(t.Context(), "train") {
		b.ok(b.Exit(t.Context(), &p, 0))
	}
	b.until("a complete job", func(ctx context.Context) bool { return b.get(ctx, "train").Status.Succeeded == 8 })
}

// answers reports whether the API server is ready.
func (b *bench) answers(ctx context.Context) bool {
	return b.client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

// policed reports whether testdata/policy.yaml is in force: a config map called bad is
// refused, and any other is marked.
func (b *bench) policed(ctx context.Context) bool {
	maps, dry := b.client.CoreV1().ConfigMaps("default"), v1.CreateOptions{DryRun: []string{v1.DryRunAll}}
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: v1.ObjectMeta{Name: "bad"}}, dry)
	good, other := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: v1.ObjectMeta{Name: "good"}}, dry)
	return apierrors.IsInvalid(err) && other == nil && good.Labels["marked"] == "true"
}

// A pod that says when it ends runs until then, and its job is complete without anybody's doing.
func TestPodEndsAfterItsTime(t *testing.T) {
	b := newBench(t, Options{Nodes: []Nodes{{Type: "NVIDIA-H200", Count: 1}}})
	b.create(job("short", 1, ungated, func(j *batchv1.Job) {
		j.Spec.Template.Annotations = map[string]string{ExitCode: "0", ExitAfter: "3s"}
	}))
	b.running("short", 1)
	b.until("a complete job", func(ctx context.Context) bool { return b.get(ctx, "short").Status.Succeeded == 1 })
	end := b.pods(t.Context(), "short")[0].Status.ContainerStatuses[0].State.Terminated
	if ran := end.FinishedAt.Sub(end.StartedAt.Time); ran < 2*time.Second {
		t.Errorf("the pod ran for %v, want 3s", ran)
	}
}
