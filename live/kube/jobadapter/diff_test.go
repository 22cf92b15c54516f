package jobadapter

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// changes returns the paths at which two values differ, in order; a part that only one has
// counts as one.
func changes(path string, a, b any) []string {
	am, ok := a.(map[string]any)
	bm, also := b.(map[string]any)
	if ok && also {
		keys := maps.Clone(am)
		maps.Copy(keys, bm)
		var all []string
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			all = append(all, changes(path+"/"+k, am[k], bm[k])...)
		}
		return all
	}
	al, ok := a.([]any)
	bl, also := b.([]any)
	if ok && also && len(al) == len(bl) {
		var all []string
		for i := range al {
			all = append(all, changes(fmt.Sprintf("%s/%d", path, i), al[i], bl[i])...)
		}
		return all
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []string{path}
}

// What is done to an object is what it must be, and nothing else of it changes.
func TestWrites_changeNothingElse(t *testing.T) {
	const pod, asked = "/spec/template", "/metadata/annotations/oxgang.dev/asked"
	stopped := []string{"/metadata/annotations/oxgang.dev/epoch", "/spec/suspend"}
	for name, c := range map[string]struct {
		file string
		do   func(k Kind, o *unstructured.Unstructured) error
		want []string
	}{
		"job started as it asks": {"job.yaml", start(4, 0, 0), []string{
			"/metadata/annotations/oxgang.dev/epoch", "/metadata/annotations/oxgang.dev/started", "/spec/suspend", pod + "/metadata/labels/oxgang.dev/generation",
			pod + "/metadata/labels/oxgang.dev/job-uid", pod + "/metadata/labels/oxgang.dev/queue", pod + "/metadata/labels/oxgang.dev/workers",
			pod + "/spec/schedulingGates",
		}},
		"job started with less": {"job.yaml", start(2, 20, 100<<30), []string{
			asked, "/metadata/annotations/oxgang.dev/epoch", "/metadata/annotations/oxgang.dev/started", "/spec/completions", "/spec/parallelism", "/spec/suspend",
			pod + "/metadata/labels/oxgang.dev/generation", pod + "/metadata/labels/oxgang.dev/job-uid", pod + "/metadata/labels/oxgang.dev/queue",
			pod + "/metadata/labels/oxgang.dev/workers",
			pod + "/spec/containers/0/resources/limits/memory", pod + "/spec/containers/0/resources/requests/cpu",
			pod + "/spec/containers/0/resources/requests/memory", pod + "/spec/schedulingGates",
		}},
		"job started on nodes that are rented": {"job.yaml", func(k Kind, o *unstructured.Unstructured) error {
			return k.Start(o, &Grant{Epoch: 1, Generation: 1, Workers: 4, Stays: true})
		}, []string{
			"/metadata/annotations/oxgang.dev/epoch", "/metadata/annotations/oxgang.dev/started", "/spec/suspend", pod + "/metadata/annotations/karpenter.sh/do-not-disrupt", pod + "/metadata/labels/oxgang.dev/generation",
			pod + "/metadata/labels/oxgang.dev/job-uid", pod + "/metadata/labels/oxgang.dev/queue", pod + "/metadata/labels/oxgang.dev/workers",
			pod + "/spec/schedulingGates",
		}},
		"job resized": {"job.yaml", func(k Kind, o *unstructured.Unstructured) error {
			return k.Resize(o, &Grant{Epoch: 2, Workers: 5, CPUs: 3, Memory: 5})
		}, []string{asked, "/metadata/annotations/oxgang.dev/epoch", "/spec/completions", "/spec/parallelism"}},
		"job stopped":      {"job.yaml", stop, stopped},
		"jobset stopped":   {"jobset.yaml", stop, stopped},
		"trainjob stopped": {"trainjob.yaml", stop, []string{"/metadata/annotations", "/spec/suspend"}},
		"rayjob stopped":   {"rayjob.yaml", stop, stopped},
		"jobset started": {"jobset.yaml", start(6, 20, 1<<30), []string{
			"/metadata/annotations/oxgang.dev/epoch", "/metadata/annotations/oxgang.dev/started", "/spec/replicatedJobs/1/template/spec/template/metadata",
			"/spec/replicatedJobs/1/template/spec/template/spec/schedulingGates", "/spec/suspend",
		}},
		"trainjob started": {"trainjob.yaml", start(4, 20, 1<<30), []string{
			"/metadata/annotations", "/spec/runtimePatches", "/spec/suspend",
		}},
		"rayjob started with more": {"rayjob.yaml", start(6, 20, 1<<30), []string{
			asked, "/metadata/annotations/oxgang.dev/epoch", "/metadata/annotations/oxgang.dev/started", "/spec/rayClusterSpec/workerGroupSpecs/1/maxReplicas",
			"/spec/rayClusterSpec/workerGroupSpecs/1/replicas", "/spec/rayClusterSpec/workerGroupSpecs/1/template/metadata/labels/oxgang.dev/generation",
			"/spec/rayClusterSpec/workerGroupSpecs/1/template/metadata/labels/oxgang.dev/job-uid",
			"/spec/rayClusterSpec/workerGroupSpecs/1/template/metadata/labels/oxgang.dev/queue",
			"/spec/rayClusterSpec/workerGroupSpecs/1/template/metadata/labels/oxgang.dev/workers",
			"/spec/rayClusterSpec/workerGroupSpecs/1/template/spec/schedulingGates", "/spec/suspend",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, c.file)
			if strings.HasSuffix(name, "stopped") || strings.HasSuffix(name, "resized") {
				o.Object["spec"].(map[string]any)["suspend"] = false
			}
			before := o.DeepCopy()
			if err := c.do(kindOf(t, o), o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, changes("", before.Object, o.Object)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func start(workers int, cpus float64, memory int64) func(Kind, *unstructured.Unstructured) error {
	return func(k Kind, o *unstructured.Unstructured) error {
		return k.Start(o, &Grant{Epoch: 1, Generation: 1, Workers: workers, CPUs: cpus, Memory: memory})
	}
}

func stop(k Kind, o *unstructured.Unstructured) error { return k.Stop(o, 1) }

// The check above sees what a careless Start would do.
func TestChanges_seesThem(t *testing.T) {
	before := object(t, "job.yaml")
	for want, edit := range map[string]func(o *unstructured.Unstructured){
		"/spec/template/spec/containers/0/image": func(o *unstructured.Unstructured) {
			pod := child(o.Object, "spec", "template", "spec")
			pod["containers"].([]any)[0].(map[string]any)["image"] = "another"
		},
		"/metadata/annotations": func(o *unstructured.Unstructured) { delete(child(o.Object, "metadata"), "annotations") },
		"/spec/template/spec/schedulingGates": func(o *unstructured.Unstructured) {
			child(o.Object, "spec", "template", "spec")["schedulingGates"] = []any{
				map[string]any{"name": "x"}, map[string]any{"name": v1alpha1.PlacementGate},
			}
		},
	} {
		after := before.DeepCopy()
		edit(after)
		if diff := cmp.Diff([]string{want}, changes("", before.Object, after.Object)); diff != "" {
			t.Error(diff)
		}
	}
}
