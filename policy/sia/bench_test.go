package sia

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/perf/estimate"
	"github.com/oxgang/oxgang/policy"
)

// A crowd is a job for every seven GPUs of the thesis' three types of nodes, in
// its ratio of 24, 24 and 16. Each round a tenth of them report.
type crowd struct {
	s          *policy.Snapshot
	estimators []*estimate.Job
	o          estimate.Options
}

func newCrowd(b *testing.B, gpus int) *crowd {
	share := func(weight, size int) int { return gpus * weight / 64 / size }
	c := clusterOf(b, shape{"t4", share(24, 4), 4}, shape{"rtx", share(24, 8), 8}, shape{"a100", share(16, 8), 8})
	w := &crowd{s: snapshot(c), o: estimate.Options{Types: c.Types(), Fits: estimate.NewCache()}}
	r := rng.Stream(1, "crowd")
	for i := range gpus / 7 {
		j := waiting(job.ID(fmt.Sprintf("job-%05d", i)), nil, func(s *job.Spec) {
			s.Batch = job.BatchLimits{Init: 128, Max: 8192, LocalMax: map[cluster.GPUType]int{"t4": 128, "rtx": 256, "a100": 1024}}
			s.RestartOverhead, s.MaxGPUs = 30*time.Second, 64
		})
		j.Submitted = epoch.Add(-time.Duration(r.IntN(36000)) * time.Second)
		w.s.Jobs = append(w.s.Jobs, j)
		e := estimate.New(j.Spec, &w.o)
		w.estimators = append(w.estimators, e)
		scale := math.Exp(r.Float64() * 3)
		for k, t := range c.Types() {
			compute := scale / float64(k+1)
			e.Learn(report(t.Type, 1, 1, 64, compute, 0))
			e.Learn(report(t.Type, 1, 1, 128, 1.8*compute, 0))
		}
		e.Learn(report("t4", 1, 2, 64, scale, 0.3*r.Float64()*scale))
		w.believe(i)
	}
	return w
}

func report(t cluster.GPUType, nodes, gpus, local int, compute, sync float64) *job.Report {
	seconds := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	return &job.Report{
		Configuration: on(nodes, gpus, t), Batch: job.BatchSize{Local: local},
		StepTime: seconds(compute + sync), SyncTime: seconds(sync), GradSqr: 1, GradVar: 5,
	}
}

// feed makes nodes count CPUs and memory, three CPUs and 62.5 GB for each GPU, and
// two jobs of three sensitive: they need 1 to 12 CPUs per GPU, and every other one
// of them reads from storage what is not cached.
func (w *crowd) feed(b *testing.B) {
	nodes := slices.Clone(w.s.Cluster.Nodes())
	for i := range nodes {
		has := &nodes[i].Capacity
		has.CPUs, has.Memory = 3*float64(has.GPUs), int64(has.GPUs)*62.5e9
	}
	c, err := cluster.New(nodes)
	if err != nil {
		b.Fatal(err)
	}
	w.s.Cluster = c
	r := rng.Stream(1, "feed")
	for i, j := range w.s.Jobs {
		if i%3 == 0 {
			continue
		}
		taken := speed(j, on(1, 1, "a100"))
		need := 1 + r.IntN(12)
		j.Sensitivity = &perf.Sensitivity{Input: job.Input{Working: 20e9}}
		for n := range need {
			j.Sensitivity.CPUs = append(j.Sensitivity.CPUs, perf.CPURate{CPUs: float64(n + 1), Rate: taken * float64(n+1) / float64(need)})
		}
		if i%3 == 1 {
			j.Sensitivity.Dataset, j.Sensitivity.Storage = 100e9+int64(r.IntN(400))*1e9, taken*r.Float64()
		}
	}
}

// believe gives job i a new row with what is known now.
func (w *crowd) believe(i int) {
	row := *w.s.Jobs[i]
	m, limits := w.estimators[i].Model()
	row.Perf, row.Limits = perf.Model(m), limits
	w.s.Jobs[i] = &row
}

// next carries out a plan; a tenth of the jobs measure something new.
func (w *crowd) next(plan *policy.Plan) {
	for i, j := range w.s.Jobs {
		if a := plan.Jobs[i].Allocation; a != j.Allocation {
			w.s.Jobs[i] = holding(j, a.Configuration)
			w.s.Jobs[i].Allocation = a
		}
	}
	w.s.Round++
	w.s.Now = w.s.Now.Add(w.s.Length)
	for i := w.s.Round % 10; i < len(w.s.Jobs); i += 10 {
		if c := w.s.Jobs[i].Allocation.Configuration; !c.IsZero() {
			r := report(c.GPUType, c.Nodes, c.GPUs, 64, 1, 0.1*float64(c.Nodes))
			r.GradVar = 5 + float64(w.s.Round%50)
			w.estimators[i].Learn(r)
			w.believe(i)
		}
	}
}

// BenchmarkPlan plans rounds on clusters of growing size.
func BenchmarkPlan(b *testing.B) {
	for _, gpus := range []int{64, 2048, 10000} {
		b.Run(fmt.Sprintf("policy=sia/gpus=%d", gpus), func(b *testing.B) { newCrowd(b, gpus).bench(b) })
	}
}

// BenchmarkPlanCells plans rounds in which CPUs and memory count: nine resources.
func BenchmarkPlanCells(b *testing.B) {
	for _, gpus := range []int{64, 512, 2048} {
		b.Run(fmt.Sprintf("policy=sia/gpus=%d", gpus), func(b *testing.B) {
			w := newCrowd(b, gpus)
			w.feed(b)
			w.bench(b)
		})
	}
}

func (w *crowd) bench(b *testing.B) {
	p := newPolicy(b, DefaultOptions())
	mean, worst := 0.0, 0.0
	round := func() *policy.Plan {
		plan, err := p.Plan(b.Context(), w.s)
		if err != nil {
			b.Fatal(err)
		}
		return plan
	}
	for range 10 { // until the jobs have grown
		w.next(round())
	}
	b.ReportAllocs()
	for b.Loop() {
		plan := round()
		b.StopTimer()
		mean, worst = mean+plan.Stats.Gap, max(worst, plan.Stats.Gap)
		w.next(plan)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rounds/s")
	b.ReportMetric(100*mean/float64(b.N), "%gap-mean")
	b.ReportMetric(100*worst, "%gap-worst")
}
