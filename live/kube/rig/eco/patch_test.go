package eco

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// The places of a job's pod template and size in its object.
const (
	ofJob    = "/spec/"
	ofJobSet = "/spec/replicatedJobs/0/template/spec/"
)

// at returns a JSON patch that sets what is below base.
func at(base string, pairs ...string) string {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, fmt.Sprintf(`{"op":"add","path":"%s%s","value":%s}`, base, pairs[i], pairs[i+1]))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// changes are what one may want to change of a job: pairs of place and value.
var changes = map[string][]string{
	"labels":       {"template/metadata/labels/oxgang.dev~1generation", `"1"`},
	"annotations":  {"template/metadata/annotations", `{"oxgang.dev/epoch":"1"}`},
	"gates":        {"template/spec/schedulingGates", `[{"name":"oxgang.dev/placement"}]`},
	"nodeSelector": {"template/spec/nodeSelector", `{"a":"b"}`},
	"tolerations":  {"template/spec/tolerations", `[{"key":"a","operator":"Exists"}]`},
	"affinity": {"template/spec/affinity", `{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":` +
		`{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}`},
	"cpus": {"template/spec/containers/0/resources/requests/cpu", `"3"`},
	"gpus": {
		"template/spec/containers/0/resources/requests/nvidia.com~1gpu", `"2"`,
		"template/spec/containers/0/resources/limits/nvidia.com~1gpu", `"2"`,
	},
	"env":  {"template/spec/containers/0/env", `[{"name":"A","value":"b"}]`},
	"size": {"parallelism", "4", "completions", "4"},
}

// The names of changes that a kind takes while it is suspended, and while it runs.
var (
	suspendedJob    = []string{"labels", "annotations", "gates", "nodeSelector", "tolerations", "affinity", "cpus", "gpus", "size"}
	runningJob      = []string{"size"}
	suspendedJobSet = []string{"labels", "annotations", "gates", "nodeSelector", "tolerations"}
)

// TestPatch tries what the package's table says on the real API.
func TestPatch(t *testing.T) {
	c := fake(t)
	for _, f := range []string{"job", "jobset", "trainjob"} {
		apply(t, c, f+".yaml", f)
	}
	tryAll(t, c, "job/job", ofJob, suspendedJob)
	tryAll(t, c, "jobset/jobset", ofJobSet, suspendedJobSet)
	for _, o := range []string{"job/job", "jobset/jobset"} {
		resume(t, c, o)
	}
	tryAll(t, c, "job/job", ofJob, runningJob)
	tryAll(t, c, "jobset/jobset", ofJobSet, nil)
	both := strings.TrimSuffix(at("/spec/", "suspend", "true"), "]") + "," + strings.TrimPrefix(at(ofJob, changes["labels"]...), "[")
	try(t, c, "job/job", "suspend and labels", both, false)
	t.Run("trainjob", func(t *testing.T) { trainJob(t, c) })
}

// fake returns a cluster of fake nodes with JobSet and Trainer.
func fake(t *testing.T, more ...Manager) *rig.Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("the managers take long to start")
	}
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "NVIDIA-H200", Count: 2}}})
	Start(t, c, append([]Manager{JobSet, Trainer}, more...)...)
	apply(t, c, "runtime.yaml", "")
	return c
}

// tryAll tries every change, of which those in allowed are to be taken.
func tryAll(t *testing.T, c *rig.Cluster, object, base string, allowed []string) {
	t.Helper()
	for name, pairs := range changes {
		ok := false
		for _, a := range allowed {
			ok = ok || a == name
		}
		try(t, c, object, name, at(base, pairs...), ok)
	}
}

// try asks the API server, admission included, whether it would take a patch.
func try(t *testing.T, c *rig.Cluster, object, name, patch string, want bool) {
	t.Helper()
	err := change(t.Context(), c, object, patch, "--dry-run=server")
	if (err == nil) != want {
		t.Errorf("%s: change of %s: %v, want it taken: %t", object, name, err, want)
	}
	if err != nil && !strings.Contains(err.Error(), "invalid") && !strings.Contains(err.Error(), "denied") {
		t.Errorf("%s: change of %s: %v, want a reason of validation", object, name, err)
	}
}

func change(ctx context.Context, c *rig.Cluster, object, patch string, more ...string) error {
	kind, name, _ := strings.Cut(object, "/")
	_, err := kubectl(ctx, c, "", append([]string{"patch", kind, name, "--type=json", "-p", patch}, more...)...)
	return err
}

// resume lets a job run and waits until it has pods.
func resume(t *testing.T, c *rig.Cluster, object string) {
	t.Helper()
	if err := change(t.Context(), c, object, at("/spec/", "suspend", "false")); err != nil {
		t.Fatal(err)
	}
	_, name, _ := strings.Cut(object, "/")
	has(t, c, name, 2)
}

// runtimePatch returns a JSON patch that gives the pods of a TrainJob's nodes what spec says,
// and suspends the job or not.
func runtimePatch(suspend bool, spec string) string {
	return at("/spec/", "suspend", fmt.Sprint(suspend), "runtimePatches",
		`[{"manager":"oxgang.dev/scheduler","trainingRuntimeSpec":{"template":{"spec":{"replicatedJobs":[{"name":"node",`+
			`"template":{"spec":{"template":`+spec+`}}}]}}}}]`)
}

// ours are the label and the gate that a start of a job puts on its pods.
const ours = `{"metadata":{"labels":{"oxgang.dev/generation":"%d"}},"spec":{"schedulingGates":[{"name":"oxgang.dev/placement"}]}}`

// trainJob tries what a TrainJob takes, starts it, stops it and starts it again.
func trainJob(t *testing.T, c *rig.Cluster) {
	const object = "trainjob/trainjob"
	try(t, c, object, "numNodes", at("/spec/trainer/", "numNodes", "4"), false)
	try(t, c, object, "cpus", at("/spec/trainer/resourcesPerNode/requests/", "cpu", `"3"`), false)
	for _, spec := range []string{
		`{"spec":{"nodeSelector":{"a":"b"}}}`, `{"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}}`, fmt.Sprintf(ours, 1),
	} {
		try(t, c, object, spec, runtimePatch(true, spec), true)
	}
	for generation := 1; generation <= 2; generation++ {
		if err := change(t.Context(), c, object, runtimePatch(false, fmt.Sprintf(ours, generation))); err != nil {
			t.Fatal(err)
		}
		marked(t, c, "trainjob", generation)
		try(t, c, object, "patches of one that runs", runtimePatch(false, fmt.Sprintf(ours, 9)), false)
		if err := change(t.Context(), c, object, at("/spec/", "suspend", "true")); err != nil {
			t.Fatal(err)
		}
		has(t, c, "trainjob", 0)
	}
	apply(t, c, "trainjob.yaml", "affine")
	const affinity = `{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":` +
		`{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}}}`
	await(t, "its JobSet", func(ctx context.Context) error { _, err := get(ctx, c, "jobset/affine", ".spec.suspend"); return err })
	if err := change(t.Context(), c, "trainjob/affine", runtimePatch(false, affinity)); err != nil {
		t.Fatal(err)
	}
	refused(t, c, "affine")
	numbers := []string{`"1"`, "1"} // as people write them
	apply(t, c, "trainjob.yaml", "numbers", numbers...)
	try(t, c, "trainjob/numbers", "patches of one with numbers", runtimePatch(true, fmt.Sprintf(ours, 1)), false)
	apply(t, c, "trainjob.yaml", "prepared", append(numbers, "spec:", "spec:\n  runtimePatches: [{manager: oxgang.dev/scheduler}]")...)
	try(t, c, "trainjob/prepared", "patches of one that had a patch", runtimePatch(true, fmt.Sprintf(ours, 1)), true)
}

// refused waits until JobSet refuses what Trainer wants of a JobSet, which stays suspended.
func refused(t *testing.T, c *rig.Cluster, name string) {
	t.Helper()
	await(t, "Trainer to be refused", func(context.Context) error {
		said, err := os.ReadFile(c.Process(origin[Trainer].program).Log)
		if err == nil && !strings.Contains(string(said), `JobSet.jobset.x-k8s.io \"`+name+`\" is invalid`) {
			err = fmt.Errorf("Trainer's log has no refusal of %s", name)
		}
		return err
	})
	if got, err := get(t.Context(), c, "jobset/"+name, ".spec.suspend"); err != nil || got != "true" {
		t.Errorf("JobSet %s is suspended: %s, error %v, want true", name, got, err)
	}
}

// marked waits until a job has two pods with a generation's label and the gate.
func marked(t *testing.T, c *rig.Cluster, name string, generation int) {
	t.Helper()
	for _, p := range has(t, c, name, 2) {
		if got := p.Labels["oxgang.dev/generation"]; got != fmt.Sprint(generation) || len(p.Spec.SchedulingGates) != 1 {
			t.Errorf("pod %s has generation %q, gates %v, want %d and one gate", p.Name, got, p.Spec.SchedulingGates, generation)
		}
	}
}
