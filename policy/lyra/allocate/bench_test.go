package allocate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/lyra/allocate"
)

// BenchmarkAllocate measures phase two: 354 items and 245 GPUs took Lyra 20 ms at most; and
// 10,000 GPUs. Unproven is of the seconds saved, in millionths. Source: Lyra §5.2.
func BenchmarkAllocate(b *testing.B) {
	for _, size := range []struct{ jobs, gpus int }{{100, 245}, {1500, 10_000}} {
		draw := rng.Stream(1, "bench")
		jobs, items, base := queued(size.jobs, 6, draw.IntN)
		choices := 0
		for _, it := range items {
			choices += len(it)
		}
		b.Run(fmt.Sprintf("items=%d/gpus=%d", choices, size.gpus), func(b *testing.B) {
			var plan *allocate.Plan
			for b.Loop() {
				plan = must(b, jobs, training(base+size.gpus), allocate.DefaultOptions())
			}
			b.ReportMetric(1e6*(plan.Bound-plan.Saved)/plan.Bound, "ppm-unproven")
		})
		b.Run(fmt.Sprintf("items=%d/gpus=%d/by=programming", choices, size.gpus), func(b *testing.B) {
			best := 0.0
			for b.Loop() {
				best = program(items, size.gpus)
			}
			plan := must(b, jobs, training(base+size.gpus), allocate.DefaultOptions())
			b.ReportMetric(1e6*(best-plan.Saved)/best, "ppm-better")
		})
	}
}

// busy is a minute of Lyra's cluster: inelastic jobs and elastic ones of up to twice their base
// demand run, others wait, and there is too little room for those.
func busy(rigid, elastic, waiting int) []allocate.Job {
	draw := rng.Stream(1, "busy")
	all := make([]allocate.Job, 0, rigid+elastic+waiting)
	for i := range rigid + elastic + waiting {
		n := 1 + draw.IntN(8)
		j := allocate.Job{ID: job.ID(fmt.Sprintf("job-%d", i)), GPUs: 2, Min: n, Max: n, Fungible: draw.IntN(5) == 0}
		j.Work = time.Duration(1+draw.IntN(6000)) * time.Minute
		if i%(1+rigid/max(1, elastic)) == 0 && elastic > 0 {
			j.Max, elastic = 2*n, elastic-1
		}
		if i < cap(all)-waiting {
			j.Has = allocate.Workers{n + draw.IntN(j.Max-n+1)}
		}
		all = append(all, j)
	}
	return all
}

// BenchmarkAllocate_minute measures what a round of Lyra's cluster costs: the 15 days of its
// trace have 21,600 of a minute. Source: Lyra §7.1.
func BenchmarkAllocate_minute(b *testing.B) {
	jobs := busy(1000, 60, 300)
	ideal := slices.Clone(jobs)
	for i := range ideal {
		ideal[i].Max, ideal[i].Heterogeneous, ideal[i].MixedSpeed = 2*ideal[i].Min, true, 1
	}
	for _, c := range []struct {
		name         string
		jobs         []allocate.Job
		free, loaned int
		growth       allocate.Growth
	}{
		{"full", jobs, 0, 0, allocate.Knapsack},
		{"some room", jobs[:1060], 200, 90, allocate.Knapsack},
		{"much room", jobs[:1060], 2000, 900, allocate.Knapsack},
		{"afs", jobs[:1060], 200, 90, allocate.AFS},
		{"gandiva", jobs[:1060], 200, 90, allocate.Gandiva},
		{"ideal", ideal[:1060], 2000, 900, allocate.Knapsack},
	} {
		b.Run(c.name, func(b *testing.B) {
			pools := allocate.Capacity{{Free: c.free, Total: 20_000, PerGPU: 1}, {Free: c.loaned, Total: 4160, PerGPU: 3}}
			o := allocate.DefaultOptions()
			o.Growth = c.growth
			var a allocate.Allocator
			for b.Loop() {
				if _, err := a.Allocate(context.Background(), c.jobs, pools, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
