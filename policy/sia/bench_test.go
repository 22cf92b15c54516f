package sia

import (
	"fmt"
	"math"
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
	c := fleet(b, shape{"t4", share(24, 4), 4}, shape{"rtx", share(24, 8), 8}, shape{"a100", share(16, 8), 8})
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
		if c := plan.Jobs[i].Allocation.Configuration; c != j.Allocation.Configuration {
			w.s.Jobs[i] = holding(j, c)
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
		b.Run(fmt.Sprintf("policy=sia/gpus=%d", gpus), func(b *testing.B) {
			w, p := newCrowd(b, gpus), newPolicy(b, DefaultOptions())
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
				w.next(plan)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rounds/s")
		})
	}
}
