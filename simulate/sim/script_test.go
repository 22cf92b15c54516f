package sim_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/opt/lbfgsb"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// A script is a random world: everything that is drawn before a run.
type script struct {
	cluster   *cluster.Cluster
	catalog   workload.Catalog
	arrivals  []workload.Arrival
	world     sim.Options
	scheduler scheduler.Options
}

// short is the embedded catalog with training cut down to a few epochs, so
// that a job ends within virtual hours. Two applications wait for CPUs and memory
// on the nodes drawn here.
var short = shortened(profiles.Default())

func shortened(full workload.Catalog) workload.Catalog {
	c := workload.Catalog{}
	for name, app := range full {
		if app.Curve == nil {
			continue // its trace says how long it trains
		}
		a, curve := *app, *app.Curve
		cut := min(4, len(curve.Ends))
		curve.Ends = make([]float64, cut)
		for e := range curve.Ends {
			curve.Ends[e] = app.Curve.Ends[e] / max(1, app.Curve.Target()/3e5)
		}
		a.Curve = &curve
		if name == "cifar10" || name == "yolov3" {
			rate := app.Reference("a100")
			a.Sensitivity = &perf.Sensitivity{
				CPUs:  []perf.CPURate{{CPUs: 2, Rate: 0.2 * rate}, {CPUs: 8, Rate: 0.6 * rate}, {CPUs: 20, Rate: 2 * rate}},
				Input: job.Input{Working: 8 << 30, Dataset: 16 << 30, Storage: 0.4 * rate},
			}
		}
		c[name] = &a
	}
	c["epochs"] = &workload.Application{
		Name: "epochs", Model: "LM", Epoch: 5000, Slowdown: 1, RestartDelay: 20 * time.Second, Speed: any5{},
		Batch: job.BatchLimits{Init: 5, Max: 80, LocalMin: 5, LocalMax: map[cluster.GPUType]int{"t4": 80, "rtx": 80, "a100": 80}},
	}
	return c
}

// any5 runs with any multiple of 5 samples on any GPUs.
type any5 struct{}

// Step implements workload.Speed.
func (any5) Step(_ cluster.GPUType, _ []int, local int) (step, sync float64, ok bool) {
	return 0.1 + 0.002*float64(local), 0, local%5 == 0 && 0 < local && local <= 80
}

// LocalRange implements workload.Speed.
func (any5) LocalRange(cluster.GPUType, []int) (least, most int) { return 5, 80 }

// schedule draws how a job of the application epochs changes its batch size.
func schedule(t *rapid.T, s *job.Spec) {
	s.Adaptivity, s.BatchSize = job.Rigid, 5*s.GPUs
	s.Target = float64(rapid.IntRange(1, 300_000).Draw(t, "samples"))
	s.Schedule.Mode = job.ScheduleMode(rapid.IntRange(0, int(job.Given)).Draw(t, "schedule"))
	if s.Schedule.Mode != job.Given {
		return
	}
	s.Target = 0
	for range rapid.IntRange(1, 4).Draw(t, "regimes") {
		batch := 5 * s.GPUs * rapid.IntRange(1, 16).Draw(t, "batch")
		s.Schedule.Regimes = append(s.Schedule.Regimes, job.Regime{BatchSize: batch, Epochs: rapid.IntRange(1, 20).Draw(t, "epochs")})
	}
}

// draw draws a script.
func draw(t *rapid.T) *script {
	s := &script{cluster: nodes(t), catalog: short}
	whole := oneIn(t, 4, "whole rounds")
	for i := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		if a := arrival(t, s.cluster, i, whole); sim.Fits(s.cluster, &a.Spec) == nil {
			s.arrivals = append(s.arrivals, a)
		}
	}
	s.scheduler = scheduler.DefaultOptions()
	s.scheduler.Round = time.Duration(rapid.SampledFrom([]int{60, 30, 300, 47}).Draw(t, "round in seconds")) * time.Second
	s.scheduler.Profile = rapid.Bool().Draw(t, "profile")
	s.scheduler.FreeMoves = oneIn(t, 4, "free moves")
	s.scheduler.Estimate = estimates(t, s.catalog)
	s.world = world(t, s.cluster)
	s.world.Estimate = s.scheduler.Estimate
	if whole {
		wholeRounds(t, &s.world.Public)
	}
	return s
}

// wholeRounds draws rules of worlds that count steps.
func wholeRounds(t *rapid.T, p *sim.Public) {
	p.ExitOnRound, p.WholeIterations, p.WholeRounds = false, false, true
	p.LateRegimes = rapid.Bool().Draw(t, "late regimes")
	p.ResumeLoss = time.Duration(rapid.SampledFrom([]int{0, 20, 400}).Draw(t, "resume loss in seconds")) * time.Second
}

func oneIn(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == n }

// nodes draws one to three GPU types with up to four nodes of 2 to 8 GPUs each.
func nodes(t *rapid.T) *cluster.Cluster {
	sizes := rapid.SampledFrom([]int{4, 8, 2, 6, 3})
	var all []cluster.Node
	for _, gpu := range rapid.Permutation([]cluster.GPUType{"t4", "rtx", "a100"}).Draw(t, "GPU types")[:rapid.IntRange(1, 3).Draw(t, "types")] {
		size, mixed := sizes.Draw(t, "GPUs per node"), oneIn(t, 5, "mixed sizes")
		for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
			if mixed {
				size = sizes.Draw(t, "GPUs of node")
			}
			all = append(all, cluster.Node{
				ID: cluster.NodeID(fmt.Sprintf("%s-%d", gpu, i)), GPUType: gpu, GPUMemory: 16 << 30, Power: 100, Price: 1,
				Capacity: cluster.Resources{GPUs: size, CPUs: float64(8 * size), Memory: int64(size) << 34},
			})
		}
	}
	c, err := cluster.New(all)
	if err != nil {
		t.Fatalf("generate a cluster: %v", err)
	}
	return c
}

// arrival draws a job, complete. It does not contradict itself, but the cluster
// may be too small for it.
func arrival(t *rapid.T, c *cluster.Cluster, i int, whole bool) workload.Arrival {
	a := workload.Arrival{At: time.Duration(rapid.IntRange(0, 3600).Draw(t, "arrival in seconds")) * time.Second}
	s := &a.Spec
	s.ID = job.ID(fmt.Sprintf("j%02d", i))
	s.Weight = rapid.SampledFrom([]float64{0, 1, 3}).Draw(t, "weight")
	s.GPUs = rapid.SampledFrom([]int{1, 2, 4, 3, 8}).Draw(t, "GPUs")
	a.Application = rapid.SampledFrom([]string{"cifar10", "bert", "deepspeech2", "yolov3", "", "gpt_pmp", "epochs"}).Draw(t, "application")
	if whole && a.Application != "" {
		a.Application = "epochs"
	}
	s.Adaptivity = rapid.SampledFrom([]job.Adaptivity{job.Adaptive, job.StrongScaling, job.Rigid, 0}).Draw(t, "adaptivity")
	switch {
	case a.Application == "":
		s.Adaptivity = job.Rigid
		a.Duration = time.Duration(rapid.IntRange(1, 5400).Draw(t, "duration in seconds")) * time.Second
	case a.Application == "gpt_pmp":
		s.GPUs = 8
	case a.Application == "epochs":
		schedule(t, s)
	case s.Adaptivity.Has(job.GPUCount) && oneIn(t, 3, "few GPUs"):
		s.MaxGPUs = 2
	}
	types := c.Types()
	pick := types[rapid.IntRange(0, len(types)-1).Draw(t, "a type")]
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		s.NonPreemptive = true
	case 1:
		if a.Application != "gpt_pmp" && a.Application != "epochs" {
			s.GPUs = min(pick.Sizes[0], rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "reserved GPUs"))
			s.Reservation = cluster.Configuration{Nodes: 1, GPUs: s.GPUs, GPUType: pick.Type}
			s.GPUTypes, s.MaxGPUs = []cluster.GPUType{pick.Type}, 0
		}
	case 2:
		s.GPUTypes = []cluster.GPUType{pick.Type}
	case 3:
		a.CancelAfter = time.Duration(rapid.IntRange(1, 4000).Draw(t, "cancelled after seconds")) * time.Second
	}
	if err := short.Complete(&a); err != nil {
		t.Fatalf("complete %s: %v", s.ID, err)
	}
	return a
}

func estimates(t *rapid.T, catalog workload.Catalog) estimate.Options {
	fits := estimate.NewCache()
	fits.Minimize = lbfgsb.WithTolerance()
	return estimate.Options{
		Mode:  rapid.SampledFrom([]estimate.Mode{estimate.Bootstrap, estimate.NoProf, estimate.Oracle, estimate.PublicCode}).Draw(t, "estimate"),
		Fits:  fits,
		Types: nil, // set by the scheduler and the world
		Oracle: func(spec *job.Spec) estimate.Throughput {
			app := catalog[string(spec.Class)]
			return func(a cluster.Allocation, b job.BatchSize) float64 {
				if app == nil {
					return float64(a.GPUs) / float64(max(1, spec.GPUs))
				}
				return app.Throughput(a.Configuration, b)
			}
		},
		Sensitivity: func(spec *job.Spec) *perf.Sensitivity {
			if app := catalog[string(spec.Class)]; app != nil {
				return app.Sensitivity
			}
			return nil
		},
		Reference: func(spec *job.Spec, g cluster.GPUType) float64 {
			if app := catalog[string(spec.Class)]; app != nil {
				return app.Reference(g)
			}
			return 1
		},
	}
}

// world draws what befalls the jobs.
func world(t *rapid.T, c *cluster.Cluster) sim.Options {
	o := sim.DefaultOptions()
	o.Seed = rapid.Uint64().Draw(t, "seed")
	o.Public.ExitOnRound = oneIn(t, 4, "exit on round")
	o.Public.WholeIterations = o.Public.ExitOnRound && oneIn(t, 2, "whole iterations")
	o.ReportInterval = time.Duration(rapid.SampledFrom([]int{30, 60, 13, 240}).Draw(t, "report interval in seconds")) * time.Second
	o.Checkpoint = time.Duration(rapid.SampledFrom([]int{0, 0, 60, 600}).Draw(t, "checkpoint in seconds")) * time.Second
	if rapid.Bool().Draw(t, "noise") {
		o.Noise = sim.Noise{Report: 0.1, Bias: 0.2, Straggler: 0.2, Slow: 2}
	}
	minutes := func(what string, most int) time.Duration {
		return time.Duration(rapid.IntRange(1, most).Draw(t, what)) * time.Minute
	}
	if oneIn(t, 3, "nodes fail") {
		o.Faults.NodeMTBF, o.Faults.Repair = 2*time.Hour, minutes("repair in minutes", 30)
	}
	if oneIn(t, 3, "GPUs fail") {
		o.Faults.GPUMTBF = 10 * time.Hour
	}
	for range rapid.IntRange(0, 2).Draw(t, "maintenance windows") {
		from := minutes("maintenance from minute", 90)
		w := sim.Window{From: from, To: from + minutes("maintenance minutes", 60), Failed: rapid.Bool().Draw(t, "failed")}
		for _, n := range c.Nodes() {
			if rapid.Bool().Draw(t, "away") {
				w.Nodes = append(w.Nodes, n.ID)
			}
		}
		o.Faults.Maintenance = append(o.Faults.Maintenance, w)
	}
	return o
}
