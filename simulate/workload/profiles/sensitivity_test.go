package profiles

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload"
)

// sensitivityText is a small file: one job that waits for both, one that waits
// for neither.
const sensitivityText = `{
"cpu_axis": [1, 3, 6],
"mem_axis_gb": [20, 62.5, 125],
"made": "by hand",
"profiles": [
 {"model": "both", "cpu_gpu_ratio": 3, "profiled_gpus": 1, "iter_time_s": 0.5, "tput": [[0.1, 0.4, 0.4], [0.1, 1, 1], [0.1, 1.5, 2]]},
 {"model": "none", "cpu_gpu_ratio": 3, "profiled_gpus": 1, "iter_time_s": 2, "mem_gb_per_gpu": 10, "tput": [[1, 1, 1], [1, 1, 1], [1, 1, 1]]},
 {"model": "both", "cpu_gpu_ratio": 6, "profiled_gpus": 1, "iter_time_s": 0.4, "tput": [[0.1, 0.4, 0.4], [0.1, 1, 1], [0.1, 1.5, 2]]},
 {"model": "both", "cpu_gpu_ratio": 3, "profiled_gpus": 4, "iter_time_s": 0.5, "tput": [[1]]}
]}`

func readText(text string, ratio float64) (workload.Catalog, error) {
	return ReadSensitivity(strings.NewReader(text), "p.json", ratio)
}

func TestReadSensitivity(t *testing.T) {
	for _, tc := range []struct {
		name       string
		ratio      float64
		model      string
		cpus, gb   float64
		want       float64 // samples per second and GPU
		mostModels int
	}{
		{"the share of ratio 3 is one iteration time", 3, "both", 3, 62.5, 2, 2},
		{"all it can use", 3, "both", 6, 125, 4, 2},
		{"between the points", 3, "both", 2, 125, 1.4, 2},
		{"a cache half as large", 3, "both", 6, 93.75, 2 * 1.5 / (1 - 31.25/250), 2},
		{"too little memory", 3, "both", 6, 62, 0, 2},
		{"insensitive", 3, "none", 1, 10, 0.5, 2},
		{"less than it was seen to run with", 3, "none", 1, 9, 0, 2},
		{"the share of ratio 6", 6, "both", 6, 62.5, 2.5, 1},
		{"no such ratio: that of 3", 4, "both", 3, 62.5, 2, 2},
	} {
		c, err := readText(sensitivityText, tc.ratio)
		if err != nil {
			t.Fatal(err)
		}
		if got := rateOf(c[tc.model], "v100", tc.cpus, tc.gb); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%s: %g samples/s, want %g", tc.name, got, tc.want)
		}
		if len(c) != tc.mostModels {
			t.Errorf("%s: applications %v, want %d", tc.name, c.Names(), tc.mostModels)
		}
	}
	c, err := readText(strings.Replace(sensitivityText, `"made"`, `"gpu_type": "a100", "made"`, 1), 3)
	if err != nil || rateOf(c["none"], "a100", 1, 20) != 0.5 || rateOf(c["none"], "v100", 1, 20) != 0 {
		t.Errorf("gpu_type a100: got %v, %v, want an application that runs there only", c["none"], err)
	}
	c, err = readText(`{"cpu_axis": [8], "mem_axis_gb": [100], "share_mem_gb": 100, "profiles": [{"model": "m", "cpu_gpu_ratio": 8, "profiled_gpus": 1, "iter_time_s": 1, "tput": [[1]]}]}`, 3)
	if err != nil || rateOf(c["m"], "v100", 8, 100) != 1 {
		t.Errorf("a single cell of ratio 8: got %v, %v, want rate 1", c["m"], err)
	}
}

// Every model of the public profiles is read, at every ratio: those without a
// task too.
func TestReadSensitivityShared(t *testing.T) {
	for _, ratio := range []float64{3, 4, 5, 6} {
		f, err := os.Open(testdata.Path(t, "synergy/profiles.json"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ReadSensitivity(f, "profiles.json", ratio)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if len(c) != 12 {
			t.Errorf("ratio %g: %v, want 12 applications", ratio, c.Names())
		}
		for _, m := range readSynergy(t).Profiles {
			if m.Ratio != ratio || m.GPUs != 1 || m.Model == "m5" && ratio == 6 {
				continue // m5 at ratio 6 has the time of 125 GB
			}
			if got := rateOf(c[m.Model], "v100", ratio, 62.5) * m.Iteration; math.Abs(got-1) > 1e-9 {
				t.Errorf("%s at the share of ratio %g: %g iterations in the time of one", m.Model, ratio, got)
			}
		}
	}
}

func TestReadSensitivityErrors(t *testing.T) {
	for _, tc := range []struct{ name, old, text, want string }{
		{"empty", sensitivityText, "", "p.json:1: unexpected end of JSON input"},
		{"no object", sensitivityText, "[]", "p.json:1: : a JSON array, want"},
		{"cut", sensitivityText, sensitivityText[:200], "p.json:6: unexpected end of JSON input"},
		{"empty object", sensitivityText, "{}", "p.json: cpu_axis: missing or empty, want the values of an axis of tput"},
		{"no profiles", sensitivityText, `{"cpu_axis": [3], "mem_axis_gb": [62.5]}`, "p.json: profiles: none, want at least one"},
		{"only several GPUs", sensitivityText, `{"cpu_axis": [3], "mem_axis_gb": [62.5], "profiles": [{"profiled_gpus": 2}]}`, "p.json: profiles: none of one GPU (profiled_gpus 1), want at least one"},
		{"zero CPUs", "[1, 3, 6]", "[0, 3, 6]", "p.json: cpu_axis[0]: 0, want more than 0 and at most 1e+06"},
		{"zero memory", "[20, 62.5", "[0, 62.5", "p.json: mem_axis_gb[0]: 0, want more than 0 and at most 1e+06"},
		{"too many CPUs", "3, 6]", "3, 6e6]", "p.json: cpu_axis[2]: 6e+06, want more than 0 and at most 1e+06"},
		{"axis falls", "[20, 62.5, 125]", "[20, 125, 62.5]", "p.json: mem_axis_gb[2]: 62.5 after 125, want ascending values, at least 0.001 apart"},
		{"no share", "62.5, 125]", "64, 128]", "p.json: share_mem_gb: 62.5 is not in mem_axis_gb, want the memory per GPU of the server that was measured"},
		{"text on the axis", "[1, 3, 6]", `["1", 3, 6]`, "p.json:2: cpu_axis: a JSON string, want float64"},
		{"not a number", "2, \"mem_gb", "NaN, \"mem_gb", "p.json:7: invalid character 'N' looking for beginning of value"},
		{"infinite", "1.5, 2]]", "1.5, 1e999]]", `p.json: profiles[0] ("both"): tput: a JSON number 1e999, want float64`},
		{"missing cell", "1.5, 2]]", "1.5, null]]", `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput[2][2]: 0 or missing, want 1e-06 to 1e+06`},
		{"short row", "1.5, 2]]", "1.5]]", `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput[2]: 2 cells, want 3, one for each of mem_axis_gb`},
		{"missing row", ", [0.1, 1.5, 2]]", "]", `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput: 2 rows, want 3, one for each of cpu_axis`},
		{"no tput", `0.5, "tput"`, `0.5, "t"`, `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput: 0 rows, want 3, one for each of cpu_axis`},
		{"negative", "1.5, 2]]", "1.5, -2]]", `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput[2][2]: -2 or missing, want 1e-06 to 1e+06`},
		{"negative where it does not run", "[0.1, 1.5, 2]", "[-1, 1.5, 2]", `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput[2][0]: -1, want at least 0`},
		{"runs nowhere", "[[1, 1, 1], [1, 1, 1], [1, 1, 1]]", "[[0, 0, 0], [0, 0, 0], [0, 0, 0.1]]", `p.json: profiles[1] ("none", cpu_gpu_ratio 3): tput: at most 0.1 everywhere, which stands for a job that does not run`},
		{"slower with more CPUs", "[0.1, 1.5, 2]", "[0.1, 0.9, 2]", `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput[2][1]: 0.9 with more CPUs, after 1, want no less`},
		{"slower with more memory", "[0.1, 1.5, 2]", "[0.1, 1.5, 1.4]", `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput[2][2]: 1.4 with more memory, after 1.5, want no less`},
		{"zero time", `"iter_time_s": 2`, `"iter_time_s": 0`, `p.json: profiles[1] ("none", cpu_gpu_ratio 3): iter_time_s: 0 or missing, want 1e-06 to 1e+06`},
		{"no model", `"none"`, `""`, `p.json: profiles[1] ("", cpu_gpu_ratio 3): model: missing or empty, want a name`},
		{"negative GPUs", `"profiled_gpus": 4`, `"profiled_gpus": -4`, `p.json: profiles[3] ("both", cpu_gpu_ratio 3): profiled_gpus: -4 or missing, want at least 1`},
		{"negative demand", `"mem_gb_per_gpu": 10`, `"mem_gb_per_gpu": -1`, `p.json: profiles[1] ("none", cpu_gpu_ratio 3): mem_gb_per_gpu: -1, want 0 to 1e+06`},
		{"ratio not measured", `"cpu_gpu_ratio": 6`, `"cpu_gpu_ratio": 4`, `p.json: profiles[2] ("both", cpu_gpu_ratio 4): cpu_gpu_ratio: 4 or missing, want one of cpu_axis [1 3 6]`},
		{"twice", `"cpu_gpu_ratio": 6`, `"cpu_gpu_ratio": 3`, `p.json: profiles[2] ("both", cpu_gpu_ratio 3): second profile of one GPU, want one of each model and cpu_gpu_ratio`},
		{"no such cache", "[0.1, 1, 1], [0.1, 1.5, 2]", "[0.1, 1, 1.2], [0.1, 1.5, 2]", `p.json: profiles[0] ("both", cpu_gpu_ratio 3): tput[1][1]: 20.0 % from a CPU curve and a cache that keeps a fixed part of the data, want at most 3 %: measure with such a cache`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(sensitivityText, tc.old, tc.text, 1)
			if _, err := readText(text, 3); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error  %v\nwant error %s", err, tc.want)
			}
		})
	}
	text := strings.NewReplacer("0.5, \"tput\"", "-1, \"tput\"", `"none"`, `""`).Replace(sensitivityText)
	if _, err := readText(text, 3); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two bad profiles: got error %v, want both", err)
	}
	broken := errors.New("disk on fire")
	if _, err := ReadSensitivity(failing{broken}, "p.json", 3); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestCheckSensitivity(t *testing.T) {
	c, err := readText(sensitivityText, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		largest cluster.Resources
		want    string // "": no error
	}{
		{cluster.Resources{GPUs: 8}, ""},
		{cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500e9}, ""},
		{cluster.Resources{GPUs: 1, CPUs: 6, Memory: 62_500_000_000}, ""},
		{cluster.Resources{GPUs: 1, CPUs: 5, Memory: 62_500_000_000}, "application both: cpu_axis: measured with 6 CPUs, the largest node has 5: leave out the rows beyond, or is it another server's file?"},
		{cluster.Resources{GPUs: 1, CPUs: 6, Memory: 9e9}, "application both: mem_axis_gb: it runs with 62.5 GB or more, the largest node has 9\napplication none: mem_axis_gb: it runs with 10 GB or more, the largest node has 9"},
	} {
		got := ""
		if err := CheckSensitivity(c, tc.largest); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%+v: got error %q, want %q", tc.largest, got, tc.want)
		}
	}
	if err := CheckSensitivity(Default(), cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500e9}); err != nil {
		t.Errorf("the embedded catalog on Synergy's servers: %v", err)
	}
}

// FuzzReadSensitivity: anything ends in an error or in applications that meet
// every cell within 3 %, whose rates fall with nothing and are finite.
func FuzzReadSensitivity(f *testing.F) {
	f.Add(sensitivityText, 3.0)
	f.Add(sensitivityText[:len(sensitivityText)-3], 6.0)
	f.Add(`{"cpu_axis":[1,2],"mem_axis_gb":[1,62.5,100],"profiles":[{"model":"m","cpu_gpu_ratio":1,"profiled_gpus":1,"iter_time_s":1e-6,"tput":[[1e-6,1,1],[1e-6,1,1e6]]}]}`, 1.0)
	f.Add(`{"cpu_axis":[1],"mem_axis_gb":[62.5,63,64,65],"profiles":[{"model":"m","cpu_gpu_ratio":1,"profiled_gpus":1,"iter_time_s":1,"tput":[[1,1,1,1.01]]}]}`, 1.0)
	f.Fuzz(func(t *testing.T, text string, ratio float64) {
		c, err := readText(text, ratio)
		if err != nil {
			return
		}
		if len(c) == 0 {
			t.Fatal("neither applications nor an error")
		}
		for _, name := range c.Names() {
			checkFed(t, name, c[name])
		}
	})
}

// checkFed fails the test unless an application's input pipeline makes sense.
func checkFed(t *testing.T, name string, app *workload.Application) {
	t.Helper()
	s, before := app.Sensitivity, 0.0
	for i, p := range s.CPUs {
		if !(p.Rate > 0) || math.IsInf(p.Rate, 1) || i > 0 && (p.CPUs <= s.CPUs[i-1].CPUs || p.Rate < s.CPUs[i-1].Rate) {
			t.Fatalf("%s: CPU curve %v, want rates that are finite and do not fall", name, s.CPUs)
		}
	}
	most := s.CPUs[len(s.CPUs)-1].CPUs
	for _, memory := range []int64{s.Working, s.Working + 1e9, s.Working + 1e12, s.Working + 1e15} {
		got := s.Rate(most, memory)
		if !(got >= before && got > 0) || math.IsInf(got, 1) {
			t.Fatalf("%s: rate %g with %d bytes, after %g: want a finite one that does not fall", name, got, memory, before)
		}
		before = got
	}
}
