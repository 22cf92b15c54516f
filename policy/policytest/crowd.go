package policytest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/model/perf/estimate"
	"github.com/oxgang/oxgang/policy"
)

// A Crowd is a large simulated cluster for benchmarks, with one job for every seven GPUs. Its GPUs are of three types
// in the ratio 24:24:16. A tenth of the jobs report progress in each round.
type Crowd struct {
	s          *policy.Snapshot
	estimators []*estimate.Job
	o          estimate.Options
}

// NewCrowd returns a Crowd with the given number of GPUs, whose jobs all wait.
func NewCrowd(b testing.TB, gpus int) *Crowd {
	share := func(weight, size int) int { return gpus * weight / 64 / size }
	var nodes []cluster.Node
	add := func(t cluster.GPUType, count, size int) {
		for i := range count {
			nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("%s-%d", t, i)), GPUType: t, Capacity: cluster.Resources{GPUs: size}})
		}
	}
	add("t4", share(24, 4), 4)
	add("rtx", share(24, 8), 8)
	add("a100", share(16, 8), 8)
	c, err := cluster.New(nodes)
	if err != nil {
		b.Fatal(err)
	}
	epoch := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &Crowd{s: &policy.Snapshot{Now: epoch, Length: time.Minute, Cluster: c}, o: estimate.Options{Types: c.Types(), Fits: estimate.NewCache()}}
	r := rng.Stream(1, "crowd")
	for i := range gpus / 7 {
		spec := &job.Spec{
			ID: job.ID(fmt.Sprintf("job-%05d", i)), GPUs: 1, Adaptivity: job.Adaptive, RestartOverhead: 30 * time.Second, MaxGPUs: 64,
			Batch: job.BatchLimits{Init: 128, Max: 8192, LocalMax: map[cluster.GPUType]int{"t4": 128, "rtx": 256, "a100": 1024}},
		}
		j := &policy.Job{Spec: spec, Limits: &spec.Batch, Status: job.Status{Phase: job.Waiting}}
		j.Submitted = epoch.Add(-time.Duration(r.IntN(36000)) * time.Second)
		w.s.Jobs = append(w.s.Jobs, j)
		e := estimate.New(j.Spec, &w.o)
		w.estimators = append(w.estimators, e)
		scale := math.Exp(r.Float64() * 3)
		spec.Target = 64 / scale * 3600 * math.Exp(r.Float64()*4) // 1 to 55 hours on a t4
		for k, t := range c.Types() {
			compute := scale / float64(k+1)
			e.Learn(measured(t.Type, 1, 1, 64, compute, 0))
			e.Learn(measured(t.Type, 1, 1, 128, 1.8*compute, 0))
		}
		e.Learn(measured("t4", 1, 2, 64, scale, 0.3*r.Float64()*scale))
		w.believe(i)
	}
	return w
}

func measured(t cluster.GPUType, nodes, gpus, local int, compute, sync float64) *job.Report {
	seconds := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	return &job.Report{
		Configuration: cluster.Configuration{Nodes: nodes, GPUs: gpus, GPUType: t}, Batch: job.BatchSize{Local: local},
		StepTime: seconds(compute + sync), SyncTime: seconds(sync), GradSqr: 1, GradVar: 5,
	}
}

// Feed makes CPUs and memory matter: nodes get 3 CPUs and 62.5 GB of memory per GPU. Two thirds of the jobs then need 1
// to 12 CPUs per GPU, and half of these read input data that is not in the cache.
func (w *Crowd) Feed(b testing.TB) {
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
		one := cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "a100"}
		_, batch := perf.BestBatch(j.Perf, cluster.Allocation{Configuration: one}, 1, j.Limits)
		taken := j.Perf.Throughput(cluster.Allocation{Configuration: one}, batch)
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

func (w *Crowd) believe(i int) {
	row := *w.s.Jobs[i]
	m, limits := w.estimators[i].Model()
	row.Perf, row.Limits = perf.Model(m), limits
	w.s.Jobs[i] = &row
}

func (w *Crowd) next(plan *policy.Plan) {
	for i, j := range w.s.Jobs {
		if a := plan.Jobs[i].Allocation; a != j.Allocation {
			row := *j
			row.Phase, row.Allocation, row.Since = job.Running, a, w.s.Now
			row.Status.MaxGPUs = max(row.Status.MaxGPUs, a.GPUs)
			if a.IsZero() {
				row.Phase = job.Waiting
			}
			w.s.Jobs[i] = &row
		}
	}
	w.s.Round++
	w.s.Now = w.s.Now.Add(w.s.Length)
	for i := w.s.Round % 10; i < len(w.s.Jobs); i += 10 {
		if c := w.s.Jobs[i].Allocation.Configuration; !c.IsZero() {
			r := measured(c.GPUType, c.Nodes, c.GPUs, 64, 1, 0.1*float64(c.Nodes))
			r.GradVar = 5 + float64(w.s.Round%50)
			w.estimators[i].Learn(r)
			w.believe(i)
		}
	}
}

// Play simulates the given number of rounds. In each round it calls decide and carries out the plan that decide
// returns.
func (w *Crowd) Play(rounds int, decide func(*policy.Snapshot) *policy.Plan) {
	for range rounds {
		w.next(decide(w.s))
	}
}

// Bench measures the time and memory per round of policy p, and carries out its plans.
func (w *Crowd) Bench(b *testing.B, p policy.Policy) {
	b.Helper()
	mean, worst := 0.0, 0.0
	round := func() *policy.Plan {
		plan, err := p.Plan(b.Context(), w.s)
		if err != nil {
			b.Fatal(err)
		}
		return plan
	}
	for range 10 {
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
