package allocate_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
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
