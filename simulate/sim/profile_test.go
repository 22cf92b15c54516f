package sim_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// A profiledJob is what came of profiling one job in an empty world.
type profiledJob struct {
	reports []job.Report
	over    time.Duration // when the job was profiled
	spec    *job.Spec
	belief  *estimate.Job
}

// profiled profiles an application, on all types of the cluster.
func profiled(t *testing.T, c *cluster.Cluster, app *workload.Application, noise sim.Noise) *profiledJob {
	t.Helper()
	catalog := workload.Catalog{app.Name: app}
	a := workload.Arrival{Application: app.Name, Spec: job.Spec{ID: "a", GPUs: 1, Target: 1e6}}
	if err := catalog.Complete(&a); err != nil {
		t.Fatal(err)
	}
	o := sim.DefaultOptions()
	o.Noise = noise
	w, err := sim.New(c, catalog, []workload.Arrival{a}, o)
	if err != nil {
		t.Fatal(err)
	}
	p := &profiledJob{spec: &a.Spec, belief: estimate.New(&a.Spec, &estimate.Options{Types: c.Types()})}
	drain(t, w, 0)
	action := scheduler.Profile{Job: "a"}
	for _, info := range c.Types() {
		action.Types = append(action.Types, info.Type)
	}
	if err := w.Do(t.Context(), []scheduler.Action{action}); err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := w.Next(t.Context(), sim.Epoch.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case scheduler.Reported:
			p.reports = append(p.reports, ev.Report)
			p.belief.Learn(&ev.Report)
		case scheduler.Profiled:
			p.over = w.Now().Sub(sim.Epoch)
			return p
		case nil:
			t.Fatal("not profiled within an hour")
		}
	}
}

// hosts is a cluster of one node for each capacity, of types v100, h100, ...
func hosts(t *testing.T, capacities ...cluster.Resources) *cluster.Cluster {
	t.Helper()
	types := []cluster.GPUType{"v100", "h100", "t4"}
	var nodes []cluster.Node
	for i, r := range capacities {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(types[i]), GPUType: types[i], Capacity: r})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var server = cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500e9} // Synergy §5.1

// Synergy §3.1: the CPU counts of one job, 50 iterations at each.
func TestProfile_of_one_job(t *testing.T) {
	app := profiles.Default()["alexnet"]
	p := profiled(t, hosts(t, server), app, sim.Noise{})
	var cpus []float64
	took := time.Duration(0)
	for _, r := range p.reports {
		cpus = append(cpus, r.CPUs)
		took += r.Interval
		if want := 50 * r.StepTime; r.Interval != want || r.Memory != 500e9 || r.Configuration != (cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}) || !r.Profile {
			t.Errorf("%+v: want a profiling run of one v100 with 500 GB over %v", r, want)
		}
		if got, want := 1/r.StepTime.Seconds(), app.Sensitivity.Rate(r.CPUs, r.Memory); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%g CPUs: %g samples/s, want %g", r.CPUs, got, want)
		}
	}
	if diff := cmp.Diff([]float64{24, 12, 6, 3, 1, 2, 9, 4}, cpus); diff != "" {
		t.Error(diff)
	}
	if p.over != took || took < 4*time.Minute || took > 8*time.Minute {
		t.Errorf("profiled after %v in runs of %v, want the same, and 4 to 8 minutes", p.over, took)
	}
}

func TestProfile_where_CPUs_say_nothing(t *testing.T) {
	insensitive := *profiles.Default()["cifar10"]
	for _, c := range []struct {
		name string
		on   cluster.Resources
		app  *workload.Application
	}{
		{"not counted", cluster.Resources{GPUs: 8}, profiles.Default()["alexnet"]},
		{"less than one", cluster.Resources{GPUs: 8, CPUs: 0.5, Memory: 500e9}, profiles.Default()["alexnet"]},
		{"the job is not sensitive", server, &insensitive},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := hosts(t, c.on)
			if c.app == &insensitive {
				on = types4(t, c.on)
			}
			p := profiled(t, on, c.app, sim.Noise{})
			if len(p.reports) == 0 || p.belief.Sensitivity() != nil {
				t.Errorf("%d reports, believed %v: want reports that say nothing of CPUs", len(p.reports), p.belief.Sensitivity())
			}
			for _, r := range p.reports {
				if r.CPUs != 0 || r.Memory != 0 {
					t.Errorf("run with %g CPUs and %d bytes, want none", r.CPUs, r.Memory)
				}
			}
		})
	}
}

// types4 is a cluster of one node of t4s.
func types4(t *testing.T, r cluster.Resources) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "t4", Capacity: r}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A job that may change its batch size and needs CPUs: the ladder has all CPUs,
// the search its largest batch.
func TestProfile_ladder_and_search(t *testing.T) {
	app := *profiles.Default()["cifar10"]
	app.Sensitivity = &perf.Sensitivity{CPUs: []perf.CPURate{{CPUs: 24, Rate: 24 * 60}}}
	p := profiled(t, types4(t, server), &app, sim.Noise{})
	before, ladder := 0, 0
	for ladder < len(p.reports) && p.reports[ladder].Batch.Local > before {
		before = p.reports[ladder].Batch.Local
		ladder++
	}
	if ladder < 8 {
		t.Errorf("%d rungs, want about ten", ladder)
	}
	for i, r := range p.reports {
		if i < ladder && r.CPUs != 24 || i >= ladder && (r.CPUs >= 24 || r.Batch.Local != before) {
			t.Errorf("run %d: %g CPUs, %d samples; want all CPUs on the ladder, then its last batch", i, r.CPUs, r.Batch.Local)
		}
	}
	if runs := len(p.reports) - ladder; runs < 4 || runs > 7 {
		t.Errorf("%d more CPU counts, want 4 to 7", runs)
	}
	a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "t4"}, CPUs: 2, Memory: 1}
	m, _ := p.belief.Model()
	if got := m.Throughput(a, job.BatchSize{Local: before}); math.Abs(got/120-1) > 0.01 {
		t.Errorf("believed %g samples/s with 2 CPUs, want 120", got)
	}
}

// A type with more CPUs takes a longer time; the job waits for the longest.
func TestProfile_types_at_once(t *testing.T) {
	catalog := workload.Extrapolate(profiles.Default(), []workload.Likeness{{Type: "h100", Like: "v100", Speed: 3}})
	app := catalog["alexnet"]
	p := profiled(t, hosts(t, server, cluster.Resources{GPUs: 8, CPUs: 96, Memory: 2000e9}), app, sim.Noise{})
	took, points := make(map[cluster.GPUType]time.Duration), make(map[cluster.GPUType]int)
	for _, r := range p.reports {
		took[r.Configuration.GPUType] += r.Interval
		points[r.Configuration.GPUType]++
	}
	if p.over != max(took["v100"], took["h100"]) || took["v100"] == took["h100"] {
		t.Errorf("profiled after %v, the types took %v", p.over, took)
	}
	if points["v100"] != 8 || points["h100"] != 10 {
		t.Errorf("points %v, want 8 of 24 CPUs and 10 of 96", points)
	}
}

// Synergy §6: the matrix gains an axis, the GPU type. What is believed of every
// model, on every type, CPU count and memory, is near the truth.
func TestProfile_of_all_models_on_two_types(t *testing.T) {
	catalog := workload.Extrapolate(profiles.Default(), []workload.Likeness{{Type: "h100", Like: "v100", Speed: 3}})
	c := hosts(t, server, server)
	worst, where := 0.0, ""
	for _, name := range synergyModels {
		app := catalog[name]
		p := profiled(t, c, app, sim.Noise{})
		m, _ := p.belief.Model()
		for _, info := range c.Types() {
			for cpus := 1.0; cpus <= 24; cpus++ {
				for gb := 62.5; gb <= 500; gb += 62.5 {
					a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: info.Type}, CPUs: cpus, Memory: int64(gb * 1e9)}
					truth := math.Min(app.Throughput(a.Configuration, job.BatchSize{Local: 1}), app.Sensitivity.Rate(a.CPUs, a.Memory))
					if off := math.Abs(m.Throughput(a, job.BatchSize{Local: 1})/truth - 1); off > worst {
						worst, where = off, name+" on "+string(info.Type)
					}
				}
			}
		}
	}
	t.Logf("%.1f %% off at worst (%s)", 100*worst, where)
	if worst > 0.05 {
		t.Errorf("%s: %.1f %% off, want at most 5 %%", where, 100*worst)
	}
}

var synergyModels = []string{"alexnet", "res18", "res50", "mobilenet", "shufflenet", "gnmt", "transformer", "lstm", "m5", "deepspeech"} // Synergy Table 4

// Synergy §3.1, Fig. 5a: "Synergy's estimations are within 3% of the empirical
// results": of the public matrices, all of them. 0.1 stands for too little memory
// to run.
func TestProfile_estimates_the_public_matrices_within_3_percent(t *testing.T) {
	text, err := os.ReadFile(testdata.Path(t, "synergy/profiles.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		CPUs     []float64 `json:"cpu_axis"`
		Memory   []float64 `json:"mem_axis_gb"`
		Profiles []struct {
			Model string
			Ratio int         `json:"cpu_gpu_ratio"`
			GPUs  int         `json:"profiled_gpus"`
			Time  float64     `json:"iter_time_s"`
			Cells [][]float64 `json:"tput"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	models, worst, where := 0, 0.0, ""
	for _, public := range file.Profiles {
		if !slices.Contains(synergyModels, public.Model) || public.GPUs != 1 || public.Ratio != 3 {
			continue
		}
		models++
		app := profiles.Default()[public.Model]
		p := profiled(t, hosts(t, server), app, sim.Noise{})
		m, _ := p.belief.Model()
		for i, row := range public.Cells {
			for k, relative := range row {
				a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "v100"}, CPUs: file.CPUs[i], Memory: int64(file.Memory[k] * 1e9)}
				got, want := m.Throughput(a, job.BatchSize{Local: 1}), relative/public.Time
				if relative == 0.1 {
					want = 0
				}
				if off := math.Abs(got - want); off > 0.03*want {
					t.Errorf("%s with %g CPUs and %g GB: believed %g iterations/s, measured %g", public.Model, file.CPUs[i], file.Memory[k], got, want)
				} else if want > 0 && off/want > worst {
					worst, where = off/want, public.Model
				}
			}
		}
	}
	if models != len(synergyModels) {
		t.Errorf("compared %d models, want %d", models, len(synergyModels))
	}
	t.Logf("%.1f %% off at worst (%s)", 100*worst, where)
}

// Runs are measured with the same noise as training.
func TestProfile_is_noisy(t *testing.T) {
	app := profiles.Default()["gnmt"]
	exact, noisy := profiled(t, hosts(t, server), app, sim.Noise{}), profiled(t, hosts(t, server), app, sim.Noise{Report: 0.01})
	differ := 0
	for i, r := range noisy.reports[:min(5, len(noisy.reports))] {
		if r.StepTime != exact.reports[i].StepTime {
			differ++
		}
		if off := r.StepTime.Seconds()/exact.reports[i].StepTime.Seconds() - 1; math.Abs(off) > 0.06 {
			t.Errorf("run %d is %g off, want about 0.01", i, off)
		}
	}
	if differ < 5 || noisy.over != exact.over {
		t.Errorf("%d of 5 runs differ, over after %v instead of %v; want all, in the same time", differ, noisy.over, exact.over)
	}
}
