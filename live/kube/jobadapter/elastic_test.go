package jobadapter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// elasticSets is the kind JobSet where the administrator says that JobSet's gate is on.
var elasticSets = New(&Options{GPUResource: "nvidia.com/gpu", TypeLabels: []string{"nvidia.com/gpu.product"}, ElasticJobSets: true})[1]

// elastic returns a JobSet of three workers of four GPUs, which may have 4 to 24 of them.
func elastic(t *testing.T, edits ...func(map[string]any)) *unstructured.Unstructured {
	one := func(o map[string]any) { workersOf(o)["replicas"] = int64(1) }
	return object(t, "jobset.yaml", append([]func(map[string]any){
		one, annotated(v1alpha1.ResizeBy, "Restart"), annotated(v1alpha1.MinGPUs, "4"), annotated(v1alpha1.MaxGPUs, "24"),
	}, edits...)...)
}

// workersOf returns the replicated job of a JobSet that has GPUs.
func workersOf(o map[string]any) map[string]any {
	return child(o, "spec")["replicatedJobs"].([]any)[1].(map[string]any)
}

// A JobSet is started with another number of workers where JobSet's gate is on, and its job without GPUs keeps its own.
func TestJobSet_elastic(t *testing.T) {
	o := elastic(t)
	before := elasticSets.Read(o, byDefault, 1)
	if before.Spec == nil || before.Spec.MinGPUs != 4 || before.Spec.GPUs != 12 || before.Spec.MaxGPUs != 24 || before.Resizing != v1alpha1.Restart {
		t.Fatalf("got %q, %+v, want 4 to 24 GPUs, 12 asked for", before.Problem, before.Spec)
	}
	for i, n := range []int{1, 6, 3} {
		was := o.DeepCopy()
		if err := elasticSets.Start(o, &Grant{Epoch: 1, Generation: int64(i + 1), Workers: n}); err != nil {
			t.Fatal(err)
		}
		spec := child(workersOf(o.Object), "template", "spec")
		if spec["parallelism"] != int64(n) || spec["completions"] != int64(n) {
			t.Errorf("started with %v of %v, want %d", spec["parallelism"], spec["completions"], n)
		}
		list := func(o *unstructured.Unstructured) any { return child(o.Object, "spec")["replicatedJobs"].([]any)[0] }
		if diff := cmp.Diff(list(was), list(o)); diff != "" {
			t.Error("its driver changed:", diff)
		}
		if diff := cmp.Diff(before.Spec, elasticSets.Read(o, byDefault, 1).Spec); diff != "" {
			t.Error("what is asked for changed:", diff)
		}
		if err := elasticSets.Stop(o, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// Which JobSets cannot take another number of workers, and why.
func TestJobSet_fixed(t *testing.T) {
	for want, edit := range map[string]func(o map[string]any){
		"several of its replicated jobs or replicas have GPUs": func(o map[string]any) { workersOf(o)["replicas"] = int64(2) },
		"its parallelism and completions differ":               func(o map[string]any) { child(workersOf(o), "template", "spec")["completions"] = int64(9) },
		"its completionMode is not Indexed":                    func(o map[string]any) { delete(child(workersOf(o), "template", "spec"), "completionMode") },
		"Kueue does not allow to resize JobSets":               func(o map[string]any) { grow(o, "metadata", "labels")[kueueQueue] = "team" },
	} {
		want = `annotation oxgang.dev/resize is "Restart", want Never: ` + want
		if got := elasticSets.Read(elastic(t, edit), byDefault, 1).Problem; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := elasticSets.Read(object(t, "jobset.yaml"), byDefault, 1); got.Problem != "" || got.Resizing != v1alpha1.Never || got.Spec.MinGPUs != 24 {
		t.Errorf("one that says nothing: %q, %+v, want what it asks for", got.Problem, got.Spec)
	}
	if err := elasticSets.Resize(elastic(t, func(o map[string]any) { child(o, "spec")["suspend"] = false }), &Grant{Workers: 2}); err == nil {
		t.Error("it was resized while it runs")
	}
}
