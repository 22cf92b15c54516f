package perf

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// iterationsPerPoint is the number of training iterations averaged at each CPU count. Source: Synergy §3.1.
const iterationsPerPoint = 50

// cpuImprovement is the relative gain in throughput between two CPU counts from which the counts in between are
// measured, too. Source: Synergy §3.1 ("say 10%").
const cpuImprovement = 0.1

// sparePoints is the number of points in addition to a plain binary search.
const sparePoints = 3

// A CPUSearch chooses the CPU counts at which to measure a job with all the memory of a node (optimistic profiling).
// Measure at the count from Next, pass the result to Learn, and repeat until Next returns false.
//
// The search starts with all CPUs of a node and halves ranges. If the middle of a range is less than cpuImprovement
// slower than its upper end, the search continues only in the lower half; otherwise in both. The lowest range starts at
// 0 CPUs with throughput 0. A search takes at most CPUPoints points: 8 for 24 CPUs, as in the paper. Source: Synergy
// §3.1.
//
// Deviation: the paper continues in one of the halves. Here the next range is the one in which a straight line may be
// furthest from the curve, because a curve over all CPU counts is wanted. A middle may be on the line by chance, so no
// range counts as straighter than cpuImprovement.
type CPUSearch struct {
	points []cpuPoint // by ascending CPUs
	most   int
}

// A cpuPoint is a measured point. It ends the range that begins at the point before, or at 0 CPUs.
type cpuPoint struct {
	cpus int
	rate float64
	bend float64 // relative, at most 1: distance of the middle from a straight line when the range was cut
}

// NewCPUSearch returns a search over the CPU counts 1 to maxCPUs.
func NewCPUSearch(maxCPUs int) *CPUSearch { return &CPUSearch{most: maxCPUs} }

// CPUPoints returns the largest number of CPU counts at which a search over 1 to maxCPUs measures.
func CPUPoints(maxCPUs int) int {
	return min(max(0, maxCPUs), bits.Len(uint(max(0, maxCPUs)))+sparePoints)
}

// Next returns the CPU count to measure next; ok is false if there is none.
func (s *CPUSearch) Next() (cpus int, ok bool) {
	if len(s.points) >= CPUPoints(s.most) {
		return 0, false
	}
	if len(s.points) == 0 {
		return s.most, true
	}
	before, most := cpuPoint{}, 0.0
	for _, p := range s.points {
		gain := 1 - before.rate/p.rate // NaN at a rate of 0
		doubt := (p.bend + cpuImprovement) * gain
		if p.cpus-before.cpus > 1 && gain > cpuImprovement && doubt > most {
			cpus, most = (before.cpus+p.cpus)/2, doubt
		}
		before = p
	}
	return cpus, cpus > 0
}

// Learn records rate, the samples per second measured with the number of CPUs that Next returned. rate must be finite
// and not negative.
func (s *CPUSearch) Learn(cpus int, rate float64) {
	i, _ := slices.BinarySearchFunc(s.points, cpus, func(p cpuPoint, c int) int { return p.cpus - c })
	p := cpuPoint{cpus: cpus, rate: rate, bend: 1}
	if i < len(s.points) {
		before, after := cpuPoint{}, &s.points[i]
		if i > 0 {
			before = s.points[i-1]
		}
		straight := before.rate + (after.rate-before.rate)*float64(cpus-before.cpus)/float64(after.cpus-before.cpus)
		p.bend = min(1, math.Abs(rate/straight-1))
		after.bend = p.bend
	}
	s.points = slices.Insert(s.points, i, p)
}

// CPUProfileCost returns the time needed to measure one replica at several CPU counts. iterations has the time of one
// training iteration at each.
func CPUProfileCost(iterations ...time.Duration) time.Duration {
	total := time.Duration(0)
	for _, it := range iterations {
		total += iterationsPerPoint * it
	}
	return total
}
