package profiles

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// synergyProfiles are the public sensitivity profiles, read without the reader
// that is tested.
type synergyProfiles struct {
	CPUs     []float64 `json:"cpu_axis"`
	Memory   []float64 `json:"mem_axis_gb"`
	Profiles []struct {
		Ratio      float64 `json:"cpu_gpu_ratio"`
		Model      string
		Task       string
		GPUs       int         `json:"profiled_gpus"`
		Iteration  float64     `json:"iter_time_s"`
		Throughput [][]float64 `json:"tput"`
	}
}

func readSynergy(t testing.TB) *synergyProfiles {
	t.Helper()
	text, err := os.ReadFile(testdata.Path(t, "synergy/profiles.json"))
	if err != nil {
		t.Fatal(err)
	}
	p := new(synergyProfiles)
	if err := json.Unmarshal(text, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// rateOf returns the samples per second of one GPU with CPUs and memory.
func rateOf(app *workload.Application, gpu cluster.GPUType, cpus, gb float64) float64 {
	taken := app.Throughput(cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: gpu}, job.BatchSize{Local: 1})
	return math.Min(taken, app.Sensitivity.Rate(cpus, int64(math.Round(gb*gigabyte))))
}

// Synergy §3.1: "estimations are within 3% of the empirical results". Cells of
// too little memory to run, 0.1 in the profiles, are 0.
func TestSynergyCells(t *testing.T) {
	p := readSynergy(t)
	apps, cells, worst, where := 0, 0, 0.0, ""
	for _, m := range p.Profiles {
		if m.Ratio != 3 || m.GPUs != 1 || m.Task == "" {
			continue
		}
		app := Default()[m.Model]
		if app == nil || app.Sensitivity == nil {
			t.Errorf("%s is not in the embedded catalog", m.Model)
			continue
		}
		apps++
		for i, row := range m.Throughput {
			for j, want := range row {
				got := rateOf(app, "v100", p.CPUs[i], p.Memory[j]) * m.Iteration
				if want == 0.1 {
					if got != 0 {
						t.Errorf("%s with %g CPUs and %g GB: got %g, want 0: it does not run", m.Model, p.CPUs[i], p.Memory[j], got)
					}
					continue
				}
				cells++
				off := math.Abs(got/want - 1)
				if off >= worst {
					worst, where = off, fmt.Sprintf("%s with %g CPUs and %g GB: %g, want %g", m.Model, p.CPUs[i], p.Memory[j], got, want)
				}
				if off > 0.03 {
					t.Errorf("%s with %g CPUs and %g GB: got %g, want %g within 3 %%", m.Model, p.CPUs[i], p.Memory[j], got, want)
				}
			}
		}
	}
	if apps != 10 || cells != 10*9*5-7*9 {
		t.Errorf("%d applications with %d cells, want the 10 of Synergy §5.1, Table 4, with %d", apps, cells, 10*9*5-7*9)
	}
	t.Logf("%d cells; the worst, by %.2g %%: %s", cells, 100*worst, where)
}

// What a job asks for to be as fast as it gets fits the memory that was measured
// for it to the byte: whole shares of 62.5 GB fill a node.
func TestSynergyDemands(t *testing.T) {
	share, most := cluster.Resources{CPUs: 3, Memory: 62_500_000_000}, cluster.Resources{CPUs: 24, Memory: 500_000_000_000}
	for name, want := range map[string]cluster.Resources{
		"alexnet": {CPUs: 12, Memory: 125e9}, "shufflenet": {CPUs: 12, Memory: 125e9}, "m5": {CPUs: 6, Memory: 162.5e9},
		"res18": {CPUs: 9, Memory: 62.5e9}, "res50": {CPUs: 4, Memory: 62.5e9}, "mobilenet": {CPUs: 6, Memory: 62.5e9},
		"deepspeech": {CPUs: 3, Memory: 62.5e9}, "gnmt": {CPUs: 1, Memory: 20e9}, "lstm": {CPUs: 1, Memory: 20e9}, "transformer": {CPUs: 1, Memory: 20e9},
	} {
		app := Default()[name]
		cells := app.Sensitivity.Cells(rateOf(app, "v100", 24, 500), share, most)
		got := cells[len(cells)-1]
		if got.CPUs != want.CPUs || got.Memory > want.Memory || want.Memory-got.Memory > 1 {
			t.Errorf("%s: demand of %g CPUs and %d bytes, want %g and %d", name, got.CPUs, got.Memory, want.CPUs, want.Memory)
		}
	}
}

// A GPU that computes three times as fast asks for three times the CPUs, and one
// like the profiled one for no more than before, however rates are rounded.
func TestLikenedCells(t *testing.T) {
	share, most := cluster.Resources{CPUs: 12, Memory: 125e9}, cluster.Resources{CPUs: 96, Memory: 1e12}
	for name, want := range map[string][2]float64{ // CPUs for the most of v100, and of h100
		"alexnet": {12, 36}, "shufflenet": {12, 36}, "m5": {6, 18}, "res18": {9, 27}, "gnmt": {1, 3},
	} {
		app := workload.Extrapolate(Default(), []workload.Likeness{{Type: "h100", Like: "v100", Speed: 3}})[name]
		for i, gpu := range []cluster.GPUType{"v100", "h100"} {
			rounded := rateOf(app, gpu, 96, 1000) * (1 + 1e-15)
			cells := app.Sensitivity.Cells(rounded, share, most)
			if got := cells[len(cells)-1]; got.CPUs != want[i] {
				t.Errorf("%s on %s: %v, want a demand of %g CPUs", name, gpu, cells, want[i])
			}
		}
	}
}

// A GPU that computes three times as fast takes in more where CPUs and storage
// deliver it, and waits as long as before where they do not.
func TestLikenFed(t *testing.T) {
	base := Default()
	fast := workload.Extrapolate(base, []workload.Likeness{{Type: "h100", Like: "v100", Speed: 3}})
	for _, tc := range []struct {
		name             string
		cpus, gb         float64
		times, timesSlow float64 // as fast as v100 with the same, on h100 and on v100 of that catalog
	}{
		{"alexnet", 3, 62.5, 1, 1}, // waits for CPUs
		{"alexnet", 12, 62.5, 1, 1},
		{"alexnet", 12, 125, 1, 1},
		{"alexnet", 24, 500, 2, 1}, // CPUs prepare twice as much for two times
		{"gnmt", 1, 20, 1, 1},
		{"gnmt", 2, 20, 2, 1},
		{"gnmt", 3, 20, 3, 1},
		{"gnmt", 24, 20, 3, 1},
	} {
		was := rateOf(base[tc.name], "v100", tc.cpus, tc.gb)
		if got := rateOf(fast[tc.name], "h100", tc.cpus, tc.gb); math.Abs(got/was-tc.times) > 1e-9 {
			t.Errorf("%s with %g CPUs and %g GB: %g times as fast on h100, want %g", tc.name, tc.cpus, tc.gb, got/was, tc.times)
		}
		if got := rateOf(fast[tc.name], "v100", tc.cpus, tc.gb); math.Abs(got/was-tc.timesSlow) > 1e-9 {
			t.Errorf("%s with %g CPUs and %g GB: %g times as fast on v100, want %g", tc.name, tc.cpus, tc.gb, got/was, tc.timesSlow)
		}
	}
	if n := len(workload.Extrapolate(base, []workload.Likeness{{Type: "b200", Like: "a100", Speed: 9}})["gnmt"].Sensitivity.CPUs); n != 1 {
		t.Errorf("%d points for a type it does not run on, want 1 as before", n)
	}
	if n := len(base["gnmt"].Sensitivity.CPUs); n != 1 {
		t.Errorf("the catalog it came from has %d points now, want 1", n)
	}
}
