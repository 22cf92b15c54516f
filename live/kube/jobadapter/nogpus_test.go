package jobadapter

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRead_of_parts_of_GPUs: a job that asks for something else than whole GPUs is told what.
func TestRead_of_parts_of_GPUs(t *testing.T) {
	const mig = "nvidia.com/mig-1g.10gb"
	for _, c := range []struct{ name, file, want string }{
		{"a MIG profile", "job.yaml", mig},
		{"time-sliced replicas", "job.yaml", "nvidia.com/gpu.shared"},
		{"a claim", "job.yaml", "devices by resource claims"},
		{"a JobSet", "jobset.yaml", mig},
		{"a TrainJob", "trainjob.yaml", mig},
		{"a RayJob", "rayjob.yaml", mig},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := object(t, c.file)
			if c.want == "devices by resource claims" {
				claim(o)
			} else {
				rename(o.Object, "nvidia.com/gpu", c.want)
			}
			j := kindOf(t, o).Read(o, byDefault, 1)
			if !strings.HasPrefix(j.Problem, "its pods request "+c.want+", but only whole GPUs (nvidia.com/gpu) are scheduled") || j.Spec != nil {
				t.Errorf("got problem %q, want that it asks for %s", j.Problem, c.want)
			}
		})
	}
}

// claim makes a Job ask for a claim in place of GPUs.
func claim(o *unstructured.Unstructured) {
	pod := child(o.Object, "spec", "template", "spec")
	for _, c := range pod["containers"].([]any) {
		delete(c.(map[string]any), "resources")
	}
	pod["resourceClaims"] = []any{map[string]any{"name": "gpu", "resourceClaimTemplateName": "one"}}
}

// rename gives a key, wherever it is, another name.
func rename(in any, from, to string) {
	switch in := in.(type) {
	case map[string]any:
		if v, there := in[from]; there {
			delete(in, from)
			in[to] = v
		}
		for _, v := range in {
			rename(v, from, to)
		}
	case []any:
		for _, v := range in {
			rename(v, from, to)
		}
	}
}
