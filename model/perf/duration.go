package perf

import (
	"cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// ByDuration is the Model of a job known only by its duration (job.Spec.Timed): one unit of progress per
// second on its requested GPUs, and proportional on other numbers, at any batch size. Source: Lyra §7.1,
// where jobs without profiles scale linearly.
type ByDuration struct{ Spec *job.Spec }

// Throughput implements Model: the worth of a over the worth of the requested GPUs.
func (d ByDuration) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	rate := d.Spec.Worth(&a) / float64(max(1, d.Spec.GPUs))
	if a.Mixed() {
		rate *= cmp.Or(d.Spec.MixedSpeed, 1)
	}
	return rate
}

// Efficiency implements Model: always 1.
func (d ByDuration) Efficiency(float64) float64 { return 1 }

// StepTime implements Model: unknown.
func (d ByDuration) StepTime(cluster.Allocation) StepTime { return StepTime{} }
