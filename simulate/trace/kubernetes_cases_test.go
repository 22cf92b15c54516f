package trace

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// readDump returns the jobs of a dump by name, each as its GPUs, wait and running time, and the summary.
func readDump(t testing.TB, text string) (map[string]string, *History, *parse.Summary) {
	t.Helper()
	s := new(parse.Summary)
	h, err := ReadHistory(strings.NewReader(text), kubernetesFormat, parse.Options{Summary: s})
	if err != nil {
		t.Fatal(err)
	}
	jobs, _, _ := rowsOf(h)
	return jobs, h, s
}

func readCase(t testing.TB, rel string) string {
	t.Helper()
	text, err := os.ReadFile(testdata.Case(t, rel))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The dumps that real tools print are read as their descriptions state.
func TestKubernetesCases(t *testing.T) {
	tests := []struct {
		file  string
		jobs  map[string]string
		notes map[string]int // some of the notes
	}{
		{"files/03-kueue-workloads-only.json", map[string]string{
			"team-a/a": "8 GPUs, waited 10m0s, ended after 1h0m0s",
			"team-a/b": "2 GPUs, waited 30m0s, ended after 2h0m0s",
			"team-a/c": "2 GPUs, waited 1h0m0s, runs after 1h30m0s",
		}, map[string]int{"Kueue Workloads without their job, read as jobs": 3}},
		{"files/05-volcano-job.json", map[string]string{"t/vj": "32 GPUs, waited 10m0s, ended after 1h0m0s"}, nil},
		{"files/14-pytorchjob.json", map[string]string{"t/pt": "32 GPUs, waited 10m0s, ended after 1h0m0s"}, nil},
		{"10-k8s-shared-and-mig-nodes/dump.json", map[string]string{
			"vision/whole":  "1 GPUs, waited 10m0s, ended after 1h0m0s",
			"vision/mi300x": "8 GPUs, waited 10m0s, ended after 1h0m0s",
		}, map[string]int{
			"jobs with parts of GPUs dropped":                                    3,
			"nodes whose GPUs are shared by time slices, left out":               2,
			"nodes whose GPUs are split by MIG, left out":                        1,
			"nodes with whole GPUs and parts of GPUs; only the whole GPUs count": 1,
		}},
		{"12-kueue-contradictory-workloads/dump.json", map[string]string{
			"vision/stuck": "24 GPUs, waited 1h0m0s, ended after 20h0m0s",
			"vision/over":  "24 GPUs, waited 1h0m0s, runs after 879h0m0s", // the dump is of 1 October
			"vision/stale": "24 GPUs, waited 1h0m0s, runs after 879h0m0s",
		}, map[string]int{
			"jobs evicted or suspended when the dump was made, treated as ending then":       1,
			"jobs still running when the dump was made, treated as ending there":             2,
			"vision/stuck: Kueue counts 24 GPUs, its pods use 0":                             1,
			"vision/stale: Kueue counts 8 GPUs, its pods use 24":                             1,
			"Kueue Workloads with more reclaimable pods than pods; these are not subtracted": 1,
		}},
	}
	for _, tc := range tests {
		t.Run(tc.file, func(t *testing.T) {
			jobs, _, s := readDump(t, readCase(t, tc.file))
			if diff := cmp.Diff(tc.jobs, jobs); diff != "" {
				t.Errorf("jobs (-want +got):\n%s", diff)
			}
			got := map[string]int{}
			for _, n := range s.Notes {
				if tc.notes[n.Text] > 0 {
					got[n.Text] = n.Count
				}
			}
			if diff := cmp.Diff(tc.notes, got, cmp.Transformer("", func(m map[string]int) string { return fmt.Sprint(m) })); tc.notes != nil && diff != "" {
				t.Errorf("notes (-want +got):\n%s\n%s", diff, s)
			}
		})
	}
}

// The nodes of a cluster with shared and split GPUs are its whole GPUs only.
func TestKubernetesCases_whole_GPUs(t *testing.T) {
	_, h, _ := readDump(t, readCase(t, "10-k8s-shared-and-mig-nodes/dump.json"))
	if want := "amd_instinct_mi300x_oam:1x8,nvidia-a100-sxm4-80gb:1x6"; h.Cluster != want {
		t.Errorf("cluster %q, want %q", h.Cluster, want)
	}
}

// Manifests of jobs with several kinds of pods are counted as Kubernetes counts them.
func TestKubernetesCases_shapes(t *testing.T) {
	tests := []struct {
		file, kind string
		want       shape
	}{
		{"09-k8s-gpu-in-sidecars-and-init/job.yaml", "batch/v1 Job", shape{workers: 2, gpus: 10, each: 5, cpus: 2 * 0.55, memory: 2 * 120 << 20}},
		{"13-jobset-driver-and-leader/jobset.yaml", "jobset.x-k8s.io/v1alpha2 JobSet", shape{workers: 9, gpus: 72, each: 8, cpus: 2}},
		{"14-rayjob-groups-and-autoscaling/rayjob.yaml", "ray.io/v1 RayJob", shape{workers: 5, gpus: 36, cpus: 4, types: []cluster.GPUType{"nvidia-h100", "nvidia-l40s"}}},
	}
	for _, tc := range tests {
		t.Run(tc.file, func(t *testing.T) {
			text, err := yaml.YAMLToJSON([]byte(readCase(t, tc.file)))
			if err != nil {
				t.Fatal(err)
			}
			var o kubeObject
			if err := json.Unmarshal(text, &o); err != nil {
				t.Fatal(err)
			}
			got, err := shapeOf(&o)
			if err != nil || o.API+" "+o.Kind != tc.kind {
				t.Fatalf("%s %s: %v", o.API, o.Kind, err)
			}
			if diff := cmp.Diff(&tc.want, got, cmp.AllowUnexported(shape{})); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	}
}

// Jobs with resource claims are dropped with their reason: their GPUs are not known.
func TestKubernetesCases_claims(t *testing.T) {
	var items []string
	for i, doc := range strings.Split(readCase(t, "11-k8s-resource-claims/all.yaml"), "\n---\n") {
		meta := fmt.Sprintf("metadata: {uid: u%d, creationTimestamp: 2026-01-02T00:00:00Z, name: ", i)
		text, err := yaml.YAMLToJSON([]byte(strings.Replace(doc, "metadata: {name: ", meta, 1)))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(text))
	}
	jobs, _, s := readDump(t, `{"items":[`+strings.Join(items, ",")+`]}`)
	want := "format : 6 rows, 0 jobs\n  " + parse.Ignored + "resource.k8s.io/ResourceClaimTemplate: 3\n  jobs with resource claims dropped: claims are not supported: 3\n"
	if _, got, _ := strings.Cut(s.String(), ":"); len(jobs) != 0 || !strings.HasSuffix(want, got) {
		t.Errorf("%d jobs and %s, want none and %s", len(jobs), s, want)
	}
}
