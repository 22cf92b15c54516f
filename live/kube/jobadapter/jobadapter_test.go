package jobadapter

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// object returns one of testdata, with parts of it changed.
func object(t testing.TB, file string, edits ...func(o map[string]any)) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	js, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(js); err != nil {
		t.Fatal(err)
	}
	for _, edit := range edits {
		edit(o.Object)
	}
	return o
}

// kindOf returns the adapter of an object.
func kindOf(t testing.TB, o *unstructured.Unstructured) Kind {
	t.Helper()
	for _, k := range Kinds {
		if k.GVK() == o.GroupVersionKind() {
			return k
		}
	}
	t.Fatalf("no kind for %v", o.GroupVersionKind())
	return nil
}

var byDefault = &v1alpha1.JobDefaults{}

func TestKinds(t *testing.T) {
	seen := map[schema.GroupVersionKind]bool{}
	for _, k := range Kinds {
		if g := k.GVK(); seen[g] || g.Kind == "" {
			t.Errorf("%v: twice, or without a name", g)
		} else {
			seen[g] = true
		}
	}
}

func TestRead_job(t *testing.T) {
	o := object(t, "job.yaml")
	got := kindOf(t, o).Read(o, byDefault, 3)
	want := &Job{
		UID: "4d1f0a86-0b0e-4c53-9f67-1c2b3d4e5f60", Kind: "Job", Namespace: "vision", Name: "resnet", Queue: "training",
		Created: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Suspended: true, Workers: 4,
		PerWorker: cluster.Resources{GPUs: 8, CPUs: 30.5, Memory: 200<<30 + 512<<20},
		Resizing:  v1alpha1.InPlace, Grace: 2 * time.Minute,
		Roles: []Role{{Pods: 4, GPUs: 8, Spec: corev1.PodSpec{NodeSelector: map[string]string{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}}, Key: `{"containers":null,"nodeSelector":{"nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB"}}`}},
		Spec: &job.Spec{
			ID: "4d1f0a86-0b0e-4c53-9f67-1c2b3d4e5f60", Name: "vision/resnet", User: "vision", Queue: "training",
			Class: "ResNet50", Weight: 3, GPUs: 32, MinGPUs: 8, MaxGPUs: 64, WorkerGPUs: 8, Resizes: true,
			GPUTypes: []cluster.GPUType{"nvidia-a100-sxm4-80gb"}, CPUs: 122, Memory: 4 * (200<<30 + 512<<20),
			Adaptivity: job.Adaptive, BatchSize: 2048, Batch: job.BatchLimits{Init: 2048, Max: 8192},
			Target: 115e6, RestartOverhead: 45 * time.Second,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What Start does is read back, and the user's wish stays what it was.
func TestStart_job(t *testing.T) {
	o := object(t, "job.yaml")
	k := kindOf(t, o)
	before := k.Read(o, byDefault, 1)
	if err := k.Start(o, &Grant{Epoch: 7, Generation: 3, Workers: 2, CPUs: 20, Memory: 100 << 30}); err != nil {
		t.Fatal(err)
	}
	after := k.Read(o, byDefault, 1)
	if after.Suspended || after.Generation != 3 || after.Workers != 2 {
		t.Errorf("got suspended %v, generation %d, %d workers, want false, 3, 2", after.Suspended, after.Generation, after.Workers)
	}
	if want := (cluster.Resources{GPUs: 8, CPUs: 20, Memory: 100 << 30}); after.PerWorker != want {
		t.Errorf("a worker asks for %v, want %v", after.PerWorker, want)
	}
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Error("what the user asks for changed:", diff)
	}
	if err := k.Start(o, &Grant{Epoch: 8, Generation: 4, Workers: 4}); err == nil {
		t.Error("a job that runs was started")
	}
	if err := k.Stop(o, 8); err != nil {
		t.Fatal(err)
	}
	if err := k.Start(o, &Grant{Epoch: 9, Generation: 4, Workers: 4}); err != nil {
		t.Fatal(err)
	}
	if got := k.Read(o, byDefault, 1); got.PerWorker != before.PerWorker || got.Workers != 4 || got.Generation != 4 {
		t.Errorf("started as it asks: got %v, %d workers, generation %d", got.PerWorker, got.Workers, got.Generation)
	}
	if _, kept := o.GetAnnotations()[v1alpha1.Asked]; kept {
		t.Error("it has what it asks for, and the annotation is still there")
	}
}

func TestResize_job(t *testing.T) {
	running := func(o map[string]any) { o["spec"].(map[string]any)["suspend"] = false }
	o := object(t, "job.yaml", running)
	k := kindOf(t, o)
	if err := k.Resize(o, &Grant{Epoch: 7, Workers: 6}); err != nil {
		t.Fatal(err)
	}
	if got := k.Read(o, byDefault, 1); got.Workers != 6 || got.Spec.GPUs != 32 {
		t.Errorf("got %d workers, and %d GPUs asked for, want 6 and 32", got.Workers, got.Spec.GPUs)
	}
	rigid := object(t, "job.yaml", running, func(o map[string]any) { delete(o["spec"].(map[string]any), "completionMode") })
	if err := k.Resize(rigid, &Grant{Epoch: 7, Workers: 6}); !errors.Is(err, errFixed) {
		t.Errorf("a Job that is not Indexed: got %v, want ErrFixed", err)
	}
}
