package run

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/config"
)

const fedTrace = "job_id,model,arrival_s,total_iters,gpus\na,alexnet,0,1000,4\nb,gnmt,0,2000,1\nc,m5,0,3000,2\n"

// With jobs.same-durations a job lasts on the GPU-proportional share of any
// cluster as long as on Synergy's servers; without, it has the iterations of its
// trace. Source: Synergy §5.5, whose jobs keep their durations at other ratios of
// CPUs to GPUs.
func TestSameDurations(t *testing.T) {
	profiles, err := os.ReadFile(testdata.Path(t, "synergy/profiles.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := textFiles(map[string]string{"t.csv": fedTrace, "own/profiles.json": string(profiles)})
	for _, tc := range []struct {
		cluster, profiles string
		like              []string
		want              [3]float64 // times the samples of the trace
	}{
		{cluster: "synergy32", want: [3]float64{1, 1, 1}},
		{cluster: "v100:4x8/32c/500g", want: [3]float64{1.25, 1, 1.2}},
		{cluster: "v100:4x8/32c/500g", profiles: "own", want: [3]float64{0.6 / 0.48, 1, 0.6 / 0.5}},
		{cluster: "v100:4x8/40c/500g", profiles: "own", want: [3]float64{0.6 / 0.392, 1, 0.6 / 0.42}},
		{cluster: "v100:4x8", want: [3]float64{2.94, 1, 2.5}},
		{cluster: "h100:4x8/96c/1600g", like: []string{"h100=v100x3"}, want: [3]float64{2.94, 3, 10.0 / 3}}, // 200 GB each: 125 alexnet needs, m5 misses 45 % of 250
	} {
		c := config.Default()
		c.Cluster, c.Profiles, c.Trace, c.Jobs.SameDurations, c.Like = tc.cluster, tc.profiles, "t.csv", true, tc.like
		in, err := Load(c, files)
		if err != nil {
			t.Fatal(err)
		}
		for i, written := range []float64{4000, 2000, 6000} {
			if got := in.Arrivals[i].Spec.Target / written; math.Abs(got-tc.want[i]) > 1e-9 {
				t.Errorf("%s, profiles %q: job %s has %.4f times its samples, want %.4f", tc.cluster, tc.profiles, in.Arrivals[i].Spec.ID, got, tc.want[i])
			}
		}
		c.Jobs.SameDurations = false
		if in, err = Load(c, files); err != nil || in.Arrivals[0].Spec.Target != 4000 {
			t.Errorf("%s: %v, got %g samples, want the 4000 of the trace", tc.cluster, err, in.Arrivals[0].Spec.Target)
		}
	}
}

// Matrices of one's own are used as given, and errors in them name the file.
func TestOwnSensitivity(t *testing.T) {
	const own = `{"cpu_axis": [3, 6], "mem_axis_gb": [62.5], "profiles": [{"model": "mine", "cpu_gpu_ratio": 3, "profiled_gpus": 1, "iter_time_s": 0.5, "tput": [[1], [2]]}]}`
	load := func(text, cl string) (*Inputs, error) {
		c := config.Default()
		c.Cluster, c.Profiles, c.Trace = cl, "own", "t.csv"
		return Load(c, textFiles(map[string]string{"own/profiles.json": text, "t.csv": "job_id,model,arrival_s,total_iters,gpus\na,mine,0,1000,4\n"}))
	}
	in, err := load(own, "synergy32")
	if err != nil {
		t.Fatal(err)
	}
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}, CPUs: 18, Memory: 250_000_000_000}
	if got := in.Catalog["mine"].Fed(a, job.BatchSize{Local: 1}); math.Abs(got-12) > 1e-9 || len(in.Catalog) != 1 {
		t.Errorf("%g samples/s of %v, want 4 GPUs of 3 each (between 2 and 4), of one application", got, in.Catalog.Names())
	}
	for _, tc := range []struct{ name, text, cluster, want string }{
		{"bad cell", strings.Replace(own, "[2]", "[0.5]", 1), "synergy32", `own/profiles.json: profiles[0] ("mine", cpu_gpu_ratio 3): tput[1][0]: 0.5 with more CPUs`},
		{"smaller server", own, "v100:4x1/4c/100g", "own/profiles.json: application mine: cpu_axis: measured with 6 CPUs, the largest node has 4"},
		{"less memory", own, "v100:4x8/24c/50g", "own/profiles.json: application mine: mem_axis_gb: it runs with 62.5 GB or more"},
		{"unknown model", strings.Replace(own, "mine", "other", 1), "synergy32", `t.csv:2:2: job a: unknown application "mine", want one of other`},
	} {
		if _, err := load(tc.text, tc.cluster); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want %s", tc.name, err, tc.want)
		}
	}
}
