// Package profile says what to measure of a job before its first round: on one
// replica of each GPU type, a ladder of local batch sizes up to what fits into
// GPU memory, and then CPU counts by binary search, with all the memory of a
// node. Source: Sia §3.3.2, Synergy §3.1.
package profile

import (
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Rungs is how many local batch sizes are measured on a GPU type, typically.
// Source: Sia §3.3.2.
const Rungs = 10

// StepsPerRung is how many optimiser steps a rung takes: one to warm up, whose
// time is not used, and three that count. The five models of
// Sia's Table 3.2 then take 18 seconds a GPU type on average; the paper says
// less than 20.
const StepsPerRung = 4

// Ladder returns the local batch sizes, in samples, to measure on one replica
// of type t: from the smallest, by equal ratios, to the largest that fits into
// GPU memory or, where memory is no limit, that the job allows in total. They
// ascend and are distinct, so there may be fewer than rungs. It returns nil if
// no batch size is allowed or rungs is less than 1. Source: Sia §3.3.2.
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

// Cost returns how long one replica is busy measuring rungs whose steps take
// the given times. A replica of several GPUs costs as many times the GPU time.
func Cost(steps ...time.Duration) time.Duration {
	total := time.Duration(0)
	for _, step := range steps {
		total += StepsPerRung * step
	}
	return total
}
