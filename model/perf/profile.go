package perf

import (
	"cmp"
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// ProfileRungs is the usual number of batch sizes at which a new job is measured on one GPU of each type. CPU
// counts are measured after these (CPUSearch). Sources: Sia §3.3.2; Synergy §3.1.
const ProfileRungs = 10

// StepsPerRung is the number of optimiser steps measured at each batch size: one to warm up, and three that count.
// The five models of Sia's Table 3.2 then take 18 seconds per GPU type on average; the paper states less than 20.
const StepsPerRung = 4

// Ladder returns at most rungs batch sizes, in samples, at which to measure one replica on GPU type t. They ascend by
// equal ratios to the largest that fits into GPU memory and the job's limit. The result is nil if no batch size is
// allowed. Source: Sia §3.3.2.
func Ladder(limits *job.BatchLimits, t cluster.GPUType, rungs int) []int {
	low, high := max(1, limits.LocalMin), limits.Max
	if most, limited := limits.LocalMax[t]; limited {
		high = min(high, most)
	}
	if high < low || rungs < 1 {
		return nil
	}
	ladder := make([]int, 1, rungs)
	ladder[0] = low
	for i := 1; i < rungs; i++ {
		share := float64(i) / float64(rungs-1)
		local := int(math.Round(float64(low) * math.Pow(float64(high)/float64(low), share)))
		if local > ladder[len(ladder)-1] {
			ladder = append(ladder, min(local, high))
		}
	}
	return ladder
}

// ProfileCost returns the time needed to measure one replica at several batch sizes. steps has the time of an optimiser
// step at each.
func ProfileCost(steps ...time.Duration) time.Duration {
	total := time.Duration(0)
	for _, step := range steps {
		total += StepsPerRung * step
	}
	return total
}

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
