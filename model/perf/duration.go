package perf

import (
	"cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// ByDuration is the performance model of a job with only a known duration (job.Spec.Timed). At any batch size, the job
// makes one unit of progress per second on its requested GPUs, and proportionally more or less on other numbers.
// Source: Lyra §7.1, where jobs without profiles scale linearly.
type ByDuration struct{ Spec *job.Spec }

// Throughput returns units of progress per second: 1 on the requested GPUs.
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
