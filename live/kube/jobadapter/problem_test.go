package jobadapter

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

func annotated(key, value string) func(map[string]any) {
	return func(o map[string]any) { grow(o, "metadata", "annotations")[key] = value }
}

func TestRead_problems(t *testing.T) {
	spec := func(key string, value any) func(map[string]any) {
		return func(o map[string]any) { child(o, "spec")[key] = value }
	}
	for _, c := range []struct {
		file string
		edit func(map[string]any)
		want string
	}{
		{"job.yaml", annotated(v1alpha1.MaxGPUs, "36"), `annotation oxgang.dev/max-gpus is "36", want a multiple of the 8 GPUs of a worker`},
		{"job.yaml", annotated(v1alpha1.MaxGPUs, "24"), `annotation oxgang.dev/max-gpus is "24", want at least the 32 that it requests`},
		{"job.yaml", annotated(v1alpha1.MinGPUs, "40"), `annotation oxgang.dev/min-gpus is "40", want at most the 32 that it requests`},
		{"job.yaml", annotated(v1alpha1.MinGPUs, "0"), `annotation oxgang.dev/min-gpus is "0", want a whole number, 1 to 1048576`},
		{"job.yaml", annotated(v1alpha1.MinGPUs, "NaN"), `annotation oxgang.dev/min-gpus is "NaN", want a whole number, 1 to 1048576`},
		{"job.yaml", annotated(v1alpha1.BatchSize, "1e99"), `annotation oxgang.dev/batch-size is "1e99", want a whole number, 1 to 1073741824; annotation oxgang.dev/max-batch-size is "8192", want none without oxgang.dev/batch-size`},
		{"job.yaml", annotated(v1alpha1.MaxBatchSize, "12"), `annotation oxgang.dev/max-batch-size is "12", want at least oxgang.dev/batch-size, 2048`},
		{"job.yaml", annotated(v1alpha1.RunSeconds, "60"), `annotation oxgang.dev/run-seconds is "60", want none together with oxgang.dev/samples`},
		{"job.yaml", annotated(v1alpha1.Samples, "-1"), `annotation oxgang.dev/samples is "-1", want a whole number, 1 to 1000000000000000000`},
		{"job.yaml", annotated(v1alpha1.RestartSeconds, "90000"), `annotation oxgang.dev/restart-seconds is "90000", want a whole number, 0 to 86400`},
		{"job.yaml", annotated(v1alpha1.Checkpoints, "yes"), `annotation oxgang.dev/checkpoints is "yes", want true or false`},
		{"job.yaml", annotated(v1alpha1.Class, "a b"), `annotation oxgang.dev/class is "a b", want a name: at most 63 letters, digits, dots, dashes and underscores`},
		{"job.yaml", annotated(v1alpha1.GPUTypes, "A100"), `annotation oxgang.dev/gpu-types is "A100", want at most 64 names of GPU types, separated by commas`},
		{"job.yaml", annotated(v1alpha1.GPUTypes, "t4"), `annotation oxgang.dev/gpu-types is "t4", want one that its pods may run on, ["nvidia-a100-sxm4-80gb"]`},
		{"job.yaml", annotated(v1alpha1.ResizeBy, "always"), `annotation oxgang.dev/resize is "always", want Never, Restart or InPlace`},
		{"job.yaml", spec("completions", int64(9)), `annotation oxgang.dev/resize is "InPlace", want Never: its parallelism and completions differ`},
		{"job.yaml", spec("parallelism", int64(0)), `0 workers, want 1 to 100000`},
		{"job.yaml", annotated(v1alpha1.Asked, "{"), `annotation oxgang.dev/asked is invalid (unexpected end of JSON input): remove it, or restore what the scheduler wrote`},
		{"jobset.yaml", annotated(v1alpha1.ResizeBy, "Restart"), `annotation oxgang.dev/resize is "Restart", want Never: JobSet runs without its feature gate ElasticJobSet (see elasticJobSets of the ClusterPolicy)`},
		{"jobset.yaml", func(o map[string]any) {
			list := child(o, "spec")["replicatedJobs"].([]any)
			list[0] = map[string]any{"name": "chief", "template": list[1].(map[string]any)["template"]}
		}, `replicated job "worker" starts after another one with GPUs, want all of them to start at once`},
		{"rayjob.yaml", annotated(v1alpha1.ResizeBy, "InPlace"), `annotation oxgang.dev/resize is "InPlace", want Never or Restart: a RayJob, or a job in Kueue without kueue.x-k8s.io/elastic-job, cannot be resized while it runs`},
		{"rayjob.yaml", spec("shutdownAfterJobFinishes", false), `spec.shutdownAfterJobFinishes is false, want true: KubeRay cannot suspend the RayJob otherwise`},
		{"rayjob.yaml", func(o map[string]any) { child(o, "spec", "rayClusterSpec")["enableInTreeAutoscaling"] = true }, `spec.rayClusterSpec.enableInTreeAutoscaling is true, want false: one scheduler chooses the number of workers`},
		{"trainjob.yaml", func(o map[string]any) { delete(child(o, "spec", "trainer"), "numNodes") }, `spec.trainer.numNodes is missing: Oxgang does not read its runtime`},
		{"trainjob.yaml", func(o map[string]any) { delete(child(o, "spec", "trainer"), "resourcesPerNode") }, `spec.trainer.resourcesPerNode has no GPUs, want the GPUs of a node: Oxgang does not read its runtime`},
		{"trainjob.yaml", func(o map[string]any) {
			delete(child(o, "spec"), "runtimePatches")
			child(o, "spec", "trainer", "resourcesPerNode", "limits")["nvidia.com/gpu"] = int64(4)
		}, `spec.trainer.resourcesPerNode has numbers without quotes, so Trainer rejects new runtimePatches: add quotes, or submit the job with an entry of oxgang.dev/scheduler in runtimePatches`},
	} {
		o := object(t, c.file, c.edit)
		if got := kindOf(t, o).Read(o, byDefault, 1); got.Problem != c.want || got.Spec != nil {
			t.Errorf("%s: got  %s\nwant %s", c.file, got.Problem, c.want)
		}
	}
}

// A queue's defaults hold for what a job does not say, as far as its kind allows. They never give a job less than it
// asks for: that a job says itself.
func TestRead_defaults(t *testing.T) {
	unsaid := func(o map[string]any) {
		delete(child(o, "metadata", "annotations"), v1alpha1.ResizeBy)
		delete(child(o, "metadata", "annotations"), v1alpha1.MaxGPUs)
		delete(child(o, "metadata", "annotations"), v1alpha1.MinGPUs)
	}
	d := &v1alpha1.JobDefaults{Resize: v1alpha1.InPlace, MaxGPUs: 50}
	for file, want := range map[string]struct {
		r    v1alpha1.Resizing
		most int
	}{
		"job.yaml": {v1alpha1.InPlace, 48}, "rayjob.yaml": {v1alpha1.Restart, 50}, "jobset.yaml": {v1alpha1.Never, 24}, "trainjob.yaml": {v1alpha1.Never, 16},
	} {
		o := object(t, file, unsaid)
		got := kindOf(t, o).Read(o, d, 1)
		if got.Spec == nil || got.Resizing != want.r || got.Spec.MaxGPUs != want.most || got.Spec.Adaptivity.Has(job.GPUCount) != (want.r != v1alpha1.Never) {
			t.Errorf("%s: got %v, %q, %+v, want %v and at most %d", file, got.Resizing, got.Problem, got.Spec, want.r, want.most)
		}
		if got.Spec.MinGPUs != got.Spec.GPUs {
			t.Errorf("%s: at least %d GPUs, want the %d that it asks for", file, got.Spec.MinGPUs, got.Spec.GPUs)
		}
		if want.r == v1alpha1.Never {
			continue
		}
		for key, value := range map[string]string{v1alpha1.ResizeBy: "Restart", v1alpha1.MinGPUs: fmt.Sprint(got.PerWorker.GPUs)} {
			annotate(o, key, value)
			if got := kindOf(t, o).Read(o, d, 1); got.Spec == nil || got.Spec.MinGPUs != got.PerWorker.GPUs {
				t.Errorf("%s: with %s got %q, %+v, want at least a worker", file, key, got.Problem, got.Spec)
			}
			annotate(o, key, "")
		}
	}
}

func TestRead_types(t *testing.T) {
	const label = "nvidia.com/gpu.product"
	term := func(operator string, values ...any) map[string]any {
		return map[string]any{"matchExpressions": []any{map[string]any{"key": label, "operator": operator, "values": values}}}
	}
	elsewhere := map[string]any{"matchExpressions": []any{map[string]any{"key": "zone", "operator": "In", "values": []any{"a"}}}}
	for name, c := range map[string]struct {
		selector any
		terms    []any
		want     []cluster.GPUType
		problem  string
	}{
		"none":                    {nil, nil, nil, ""},
		"selector":                {"T4", nil, []cluster.GPUType{"t4"}, ""},
		"named":                   {"NVIDIA-A100-SXM4-80GB", nil, []cluster.GPUType{"a100"}, ""},
		"either term":             {nil, []any{term("In", "T4"), term("In", "V100", "T4")}, []cluster.GPUType{"t4", "v100"}, ""},
		"a term without":          {nil, []any{term("In", "T4"), elsewhere}, nil, ""},
		"both":                    {"T4", []any{term("In", "V100", "T4")}, []cluster.GPUType{"t4"}, ""},
		"neither":                 {"T4", []any{term("In", "V100")}, nil, "its nodeSelector and node affinity allow no GPU type, want at least 1"},
		"exists":                  {nil, []any{term("Exists")}, nil, ""},
		"all but one":             {nil, []any{term("NotIn", "T4")}, nil, "node affinity: nvidia.com/gpu.product NotIn, want In: the scheduler chooses among named GPU types"},
		"a value that is no name": {"-", nil, nil, `node label "-", want the name of a GPU type`},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, "job.yaml", func(o map[string]any) {
				pod := child(o, "spec", "template", "spec")
				delete(pod, "nodeSelector")
				if c.selector != nil {
					pod["nodeSelector"] = map[string]any{label: c.selector}
				}
				if c.terms != nil {
					grow(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"] = c.terms
				}
			})
			k := New(&Options{GPUResource: "nvidia.com/gpu", TypeLabels: []string{label}, Names: map[string]string{"NVIDIA-A100-SXM4-80GB": "a100"}})[0]
			got := k.Read(o, byDefault, 1)
			if got.Problem != c.problem || got.Spec != nil && !slices.Equal(got.Spec.GPUTypes, c.want) {
				t.Errorf("got %q, %+v, want %q, %v", got.Problem, got.Spec, c.problem, c.want)
			}
		})
	}
}

// Quantities that would take all memory to read are refused before they are read.
func TestRead_absurdQuantities(t *testing.T) {
	const big = "12345678901234567890e999999999"
	within := func(o map[string]any, fields ...string) map[string]any {
		return grow(child(o, fields...)["containers"].([]any)[0].(map[string]any), "resources", "requests")
	}
	for file, edit := range map[string]func(o map[string]any){
		"job.yaml": func(o map[string]any) { within(o, "spec", "template", "spec")["cpu"] = big },
		"jobset.yaml": func(o map[string]any) {
			within(child(o, "spec")["replicatedJobs"].([]any)[0].(map[string]any), "template", "spec", "template", "spec")["cpu"] = big
		},
		"trainjob.yaml": func(o map[string]any) { child(o, "spec", "trainer", "resourcesPerNode", "limits")["memory"] = big },
		"rayjob.yaml": func(o map[string]any) {
			within(o, "spec", "rayClusterSpec", "headGroupSpec", "template", "spec")["nvidia.com/gpu"] = big
		},
	} {
		o := object(t, file, edit)
		want := `quantity "12345678901234567890e999999999", want an exponent of at most 3 digits, and at most 64 characters`
		if got := kindOf(t, o).Read(o, byDefault, 1).Problem; got != want {
			t.Errorf("%s: got %q", file, got)
		}
	}
	o := object(t, "job.yaml", annotated(v1alpha1.Asked, `{"asked":{"workers":1},"granted":{"workers":1,"requests":{"cpu":"`+big+`"}}}`))
	if got := kindOf(t, o).Read(o, byDefault, 1); got.Problem == "" {
		t.Error("in an annotation: not seen")
	}
	for _, fine := range []string{"1e3", "1E6", "0.5", "64Gi", "3E", "1e-3"} {
		if err := plainQuantity(fine); err != nil {
			t.Error(err)
		}
	}
}

// Of a job with an annotation that is wrong the others still hold, as far as it runs.
func TestRead_without_what_is_wrong(t *testing.T) {
	o := object(t, "job.yaml")
	grow(o.Object, "metadata")["annotations"] = map[string]any{v1alpha1.MaxGPUs: "banana", v1alpha1.RunSeconds: "77"}
	j := kindOf(t, o).Read(o, byDefault, 1)
	if j.Problem == "" || j.Spec != nil || j.Plain == nil || j.Plain.Target != 77 {
		t.Errorf("got %+v, want a problem, and that it runs for 77 s", j)
	}
}
