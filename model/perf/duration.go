package perf

import (
	"cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// ByDuration is the performance model of a job with only a known duration (job.Spec.Timed): one unit of progress
// per second on its requested GPUs, and in proportion on other numbers, at any batch size. Source: Lyra §7.1,
// where jobs without profiles scale linearly.
type ByDuration struct{ Spec *job.Spec }

// Throughput returns the speed relative to the requested GPUs, in units of progress per second.
func (d ByDuration) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	rate := d.Spec.Worth(&a) / float64(max(1, d.Spec.GPUs))
	if a.Mixed() {
		rate *= cmp.Or(d.Spec.MixedSpeed, 1)
	}
	return rate
}

// Efficiency returns 1 for every batch size.
func (d ByDuration) Efficiency(float64) float64 { return 1 }

// StepTime returns zero, which means unknown.
func (d ByDuration) StepTime(cluster.Allocation) StepTime { return StepTime{} }
