package perf

import (
	"cmp"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
)

// ByDuration is the Model of a job that is known by its duration, job.Spec.Timed: it makes
// one unit of progress a second on the GPUs that it asks for, and in proportion on more or
// fewer; the batch size does not matter. That speed is linear is assumed, not measured.
// Source: Lyra §7.1, where jobs without profiles scale linearly.
type ByDuration struct{ Spec *job.Spec }

// Throughput implements Model: what a is worth over what the job asks for, per second.
func (d ByDuration) Throughput(a cluster.Allocation, _ job.BatchSize) float64 {
	rate := d.Spec.Worth(&a) / float64(max(1, d.Spec.GPUs))
	if a.Mixed() {
		rate *= cmp.Or(d.Spec.MixedSpeed, 1)
	}
	return rate
}

// Efficiency implements Model: a second is a second.
func (d ByDuration) Efficiency(float64) float64 { return 1 }
