package trace

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// recorded reads the dump of a cluster of four emulated nodes with real controllers: Jobs,
// a JobSet, a TrainJob, and a Job that Kueue admitted.
func recorded(t *testing.T, o parse.Options) *History {
	t.Helper()
	f, err := os.Open("testdata/kubernetes.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	k, err := ReadHistory(f, kubernetesFormat, o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestReadKubernetes(t *testing.T) {
	o := parse.Options{Summary: new(parse.Summary)}
	k := recorded(t, o)
	if want := "nvidia-a100-sxm4-80gb:1x8,nvidia-h200:2x8"; k.Cluster != want {
		t.Errorf("cluster %q, want %q", k.Cluster, want)
	}
	got := map[string]string{}
	for _, j := range k.Jobs {
		a := &j.Arrival
		if j.Started.Before(j.Submitted) || !j.Ended.IsZero() && j.Ended.Sub(j.Started) != a.Duration || k.Taken.Before(j.Ended) {
			t.Errorf("%s: submitted %v, started %v, ended %v, ran for %v, taken %v", a.Spec.Name, j.Submitted, j.Started, j.Ended, a.Duration, k.Taken)
		}
		got[a.Spec.Name] = fmt.Sprintf("%d of %d, waited %v, admitted %v, ended %v", a.Spec.GPUs, a.Spec.WorkerGPUs, j.Started.Sub(j.Submitted), !j.Admitted.IsZero(), !j.Ended.IsZero())
	}
	want := map[string]string{
		"research/bert-1":  "16 of 8, waited 31s, admitted false, ended true",
		"research/bert-2":  "16 of 4, waited 33s, admitted false, ended true",
		"research/endless": "2 of 2, waited 1s, admitted false, ended false",
		"research/eval":    "2 of 2, waited 0s, admitted false, ended true",
		"vision/clip":      "8 of 4, waited 11s, admitted false, ended true",
		"vision/llama":     "4 of 2, waited 1s, admitted false, ended true",
		"vision/resnet-1":  "8 of 8, waited 1s, admitted false, ended true",
		"vision/resnet-2":  "8 of 8, waited 12s, admitted false, ended true",
		"vision/vit":       "4 of 4, waited 5s, admitted true, ended true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]parse.Note{
		{Text: "jobs still running when the dump was made, treated as ending there", Count: 1},
		{Text: "jobs that have not started dropped", Count: 3},
		{Text: parse.DropNoGPUs, Count: 1},
	}, o.Summary.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// Nodes on which not every job may run are counted: simulations give them to all.
func TestReadKubernetes_counts_reserved_nodes(t *testing.T) {
	node := func(name, spec, ready string) string {
		return fmt.Sprintf(`{"kind": "Node", "metadata": {"name": %q, "uid": %q, "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"nvidia.com/gpu.product": "H200"}}, "spec": %s,
 "status": {"allocatable": {"nvidia.com/gpu": "8"}, "conditions": [{"type": "Ready", "status": %q}]}}`, name, name, spec, ready)
	}
	items := strings.Join([]string{
		node("a", `{}`, "True"),
		node("b", `{"unschedulable": true, "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}`, "True"),
		node("c", `{"taints": [{"key": "team", "value": "nlp", "effect": "NoSchedule"}]}`, "True"),
		node("d", `{"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}, {"key": "soft", "effect": "PreferNoSchedule"}]}`, "True"),
		node("e", `{"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}`, "False"),
	}, ",")
	o := parse.Options{Summary: new(parse.Summary)}
	if _, err := ReadHistory(strings.NewReader(`{"kind": "List", "items": [`+items+`]}`), kubernetesFormat, o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]parse.Note{
		{Text: "cordoned nodes, included", Count: 1},
		{Text: "tainted nodes, open to all jobs in the simulation", Count: 1},
		{Text: "nodes that are not ready, included", Count: 1},
	}, o.Summary.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// Rows before the start are dropped; times count from it.
func TestKubernetesStart(t *testing.T) {
	all := recorded(t, parse.Options{})
	start := all.Jobs[len(all.Jobs)-1].Submitted
	k := recorded(t, parse.Options{Start: start})
	if len(k.Jobs) == 0 || len(k.Jobs) >= len(all.Jobs) {
		t.Fatalf("%d jobs since the last came, want some of %d", len(k.Jobs), len(all.Jobs))
	}
	for _, j := range k.Jobs {
		if j.Submitted.Before(start) || j.Arrival.At != j.Submitted.Sub(start) {
			t.Errorf("%s at %v, want the time since %v", j.Arrival.Spec.Name, j.Arrival.At, start)
		}
	}
}

func one(object string) string { return `{"items":[` + object + "]}" }

const kubeMeta = `"metadata":{"namespace":"a","name":"b","uid":"u","creationTimestamp":"2026-01-02T00:00:00Z"}`

func TestKubernetesErrors(t *testing.T) {
	job := func(spec string) string { return one(`{"kind":"Job",` + kubeMeta + `,"spec":` + spec + `}`) }
	gpus := func(n string) string {
		return `{"containers":[{"resources":{"limits":{"nvidia.com/gpu":` + n + `}}}]}`
	}
	tests := []struct{ name, text, want string }{
		{"no list", `[]`, `input:1: '[', want {, which begins a list of objects`},
		{"one object", `{"kind":"Job","spec":{"a":1},"x":[]}`, `input:1: '[', want a text or an object`},
		{"no items", `{"kind":"List"}`, `input:1: the file ends, want at least one job`},
		{"items no array", `{"items":{}}`, `input:1: '{', want [, which begins the items`},
		{"truncated", `{"items":[{"kind":"Event",` + kubeMeta + `},`, `input:1: truncated`},
		{"after the list", `{"items":[]}]`, `input:1: ']', want {, which begins a list of objects`},
		{"two objects without a comma", `{"items":[{"kind":"Event",` + kubeMeta + `}{}]}`, `input:1: '{', want , or ]`},
		{"no uid", one(`{"kind":"Job"}`), `input:1: job : no uid`},
		{"no time", one(`{"kind":"Job","metadata":{"uid":"u"}}`), `input:1: job : no creationTimestamp`},
		{"time of no calendar", one(`{"kind":"Job","metadata":{"uid":"u","creationTimestamp":"0002-01-01T00:00:00Z"}}`), `input:1: job : a time in the year 2, want 1971 to 2250`},
		{"not a number", job(`{"template":{"spec":` + gpus(`"NaN"`) + `}}`), `input:1: job a/b: spec: quantity "NaN", want one like 500m`},
		{"infinite", job(`{"template":{"spec":` + gpus(`"1e999"`) + `}}`), `input:1: job a/b: spec: quantity "1e999"`},
		{"negative", job(`{"template":{"spec":` + gpus(`"-1"`) + `}}`), `input:1: job a/b: spec: quantity "-1"`},
		{"too many", job(`{"parallelism":9000000000,"template":{"spec":` + gpus(`"8"`) + `}}`), `input:1: job a/b: more than 1000000 GPUs`},
		{"large node", one(`{"kind":"Node",` + kubeMeta + `,"status":{"allocatable":{"nvidia.com/gpu":"4k"}}}`), `input:1: node a/b: 4000 GPUs, want at most 1024`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ReadHistory(strings.NewReader(tc.text), kubernetesFormat, parse.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error  %v\nwant error %s", err, tc.want)
			}
		})
	}
}

// What a job asks for is counted as the scheduler of Kubernetes counts it.
func TestKubernetesShapes(t *testing.T) {
	pod := func(gpus string) string {
		return `{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"` + gpus + `"}}},{"resources":{"requests":{"cpu":"1"}}}],
			"initContainers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}},{"restartPolicy":"Always","resources":{"requests":{"cpu":"250m"}}}]}}`
	}
	tests := []struct {
		kind, spec         string
		workers, gpus, one int
		cpus               float64
	}{
		{"Job", `{"parallelism":4,"completions":2,"template":` + pod("2") + `}`, 2, 4, 2, 2.5},
		{"Job", `{"template":` + pod("0") + `}`, 1, 1, 1, 1.25}, // the init container's
		{"JobSet", `{"replicatedJobs":[{"template":{"spec":{"template":` + pod("4") + `}}},{"replicas":2,"template":{"spec":{"parallelism":3,"template":` + pod("2") + `}}}]}`, 7, 16, 0, 8.75},
		{"TrainJob", `{"trainer":{"numNodes":3,"resourcesPerNode":{"requests":{"nvidia.com/gpu":8,"cpu":2}}}}`, 3, 24, 8, 6},
		{"TrainJob", `{}`, 0, 0, 0, 0},
		{"RayJob", `{"rayClusterSpec":{"headGroupSpec":{"template":` + pod("1") + `},"workerGroupSpecs":[{"replicas":2,"numOfHosts":2,"template":` + pod("4") + `}]}}`, 5, 17, 0, 6.25},
	}
	for _, tc := range tests {
		s, err := shapeOf(&kubeObject{Kind: tc.kind, Spec: []byte(tc.spec)})
		if err != nil {
			t.Errorf("%s %s: %v", tc.kind, tc.spec, err)
			continue
		}
		if s.workers != tc.workers || s.gpus != tc.gpus || s.each != tc.one || s.cpus != tc.cpus {
			t.Errorf("%s: %+v, want %d workers, %d GPUs, %d each, %g cores", tc.kind, s, tc.workers, tc.gpus, tc.one, tc.cpus)
		}
	}
}

// A RayJob is known by the name of its cluster, of which its pods have a label.
func TestKubernetesRay(t *testing.T) {
	const text = `{"items":[
{"kind":"Pod","metadata":{"namespace":"a","name":"p","uid":"p","creationTimestamp":"2026-01-02T00:00:00Z","labels":{"ray.io/cluster":"c"}},
 "spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-02T00:01:00Z"}]}},
{"kind":"RayJob","metadata":{"namespace":"a","name":"r","uid":"r","creationTimestamp":"2026-01-02T00:00:00Z"},
 "spec":{"rayClusterSpec":{"workerGroupSpecs":[{"replicas":2,"template":{"spec":{"nodeSelector":{"nvidia.com/gpu.product":"T4"},"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}]}},
 "status":{"rayClusterName":"c","endTime":"2026-01-02T00:03:00Z"}}]}`
	got, summary := read(t, text, parse.Options{})
	if len(got) != 1 || got[0].Duration != 2*time.Minute || got[0].Spec.GPUs != 2 || len(got[0].Spec.GPUTypes) != 1 || got[0].Spec.GPUTypes[0] != "t4" {
		t.Errorf("arrivals %+v and %s, want one of 2 t4 GPUs for 2 minutes", got, summary)
	}
}

// Lists may overlap: a pod that is in two counts once, and so do jobs.
func TestKubernetesOverlap(t *testing.T) {
	const text = `{"items":[
{"kind":"Job","metadata":{"namespace":"a","name":"j","uid":"j","creationTimestamp":"2026-01-02T00:00:00Z"},
 "spec":{"parallelism":2,"completions":2,"template":{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}},"status":{"completionTime":"2026-01-02T00:03:00Z"}},
{"kind":"Pod","metadata":{"namespace":"a","name":"j-0","uid":"p","creationTimestamp":"2026-01-02T00:00:00Z","ownerReferences":[{"kind":"Job","uid":"j"}]},
 "spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-02T00:01:00Z"}]}},
{"kind":"Pod","metadata":{"namespace":"a","name":"j-1","uid":"q","creationTimestamp":"2026-01-02T00:00:00Z","ownerReferences":[{"kind":"Job","uid":"j"}]},
 "spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-02T00:02:00Z"}]}}]}`
	for _, twice := range []string{text, text + text} {
		k, err := ReadHistory(strings.NewReader(twice), kubernetesFormat, parse.Options{OnBadRow: parse.Skip})
		if err != nil || len(k.Jobs) != 1 || k.Jobs[0].Arrival.Duration != time.Minute {
			t.Errorf("%+v, %v; want one job of a minute, from when its last pod was bound", k, err)
		}
	}
}

// An object that is too long is a bad row: it is not held.
func TestKubernetesLongObject(t *testing.T) {
	o := parse.Options{OnBadRow: parse.Skip, MaxLine: 1000, Summary: new(parse.Summary)}
	text := strings.Replace(kubernetesText, `"items": [`, `"items": [{"kind": "`+strings.Repeat("x", 5000)+`"},`, 1)
	k, err := ReadHistory(strings.NewReader(text), kubernetesFormat, o)
	if err != nil || len(k.Jobs) != 2 || o.Summary.Bad != 1 {
		t.Errorf("%d jobs, %d bad rows, error %v; want 2, 1 and none", len(k.Jobs), o.Summary.Bad, err)
	}
}

// A job starts when it has all its workers; one that still waits for some has not started,
// and a pod that took the place of another changes nothing.
func TestKubernetesGathered(t *testing.T) {
	at := func(s int) *kubePod { return &kubePod{bound: time.Unix(int64(s), 0)} }
	waits := &kubePod{}
	ended := &kubeObject{Status: kubeStatus{Completion: time.Unix(99, 0)}}
	tests := []struct {
		name    string
		object  *kubeObject
		workers int
		pods    []*kubePod
		want    int64 // 0: not started
	}{
		{"all at once", ended, 2, []*kubePod{at(5), at(5)}, 5},
		{"one by one", new(kubeObject), 2, []*kubePod{at(9), at(5)}, 9},
		{"one still waits", new(kubeObject), 2, []*kubePod{at(5), waits}, 0},
		{"failed before it had all", ended, 2, []*kubePod{at(5), waits}, 5},
		{"one was replaced", ended, 2, []*kubePod{at(5), at(6), at(50)}, 6},
		{"ended in the queue", ended, 1, []*kubePod{waits}, 0},
	}
	for _, tc := range tests {
		j := &kubeJob{object: tc.object, shape: &shape{workers: tc.workers}, pods: tc.pods}
		got := int64(0)
		if at := j.gathered(); !at.IsZero() {
			got = at.Unix()
		}
		if got != tc.want {
			t.Errorf("%s: started at %d, want %d", tc.name, got, tc.want)
		}
	}
}
