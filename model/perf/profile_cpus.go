package profile

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// IterationsPerPoint is how many iterations are averaged at each CPU count.
// Source: Synergy §3.1.
const IterationsPerPoint = 50

// Improvement is the part of the throughput that more CPUs must add for the CPU
// counts between to be measured. Source: Synergy §3.1 ("say 10%").
const Improvement = 0.1

// spare is how many points a search has beyond those of a plain binary search.
const spare = 3

// A Search chooses the CPU counts at which to measure a job with all the memory of a
// node: optimistic profiling. Measure at the count that Next returns, give the result
// to Learn, and repeat until Next returns false. The zero value has nothing to measure.
//
// It begins with the most CPUs and halves ranges. If the middle of a range is less
// than Improvement slower than its upper end, the counts between them need no
// measurement, and the search goes on in the lower half; otherwise in both halves.
// The lowest range begins at no CPUs, where the throughput is 0. A search takes at
// most Points points: 8 of 24 CPUs, as in the paper. Source: Synergy §3.1.
//
// Deviation: the paper goes on in the upper half or in the lower one. Here the next
// range is the one in which a straight line may be furthest from the curve, because a
// curve over all CPU counts is wanted. That is a range whose ends differ much, and
// that was cut where the middle lay far from a straight line. A middle may lie on the
// line by chance, so that no range counts as straighter than Improvement.
type Search struct {
	points []point // by ascending CPUs
	most   int
}

// A point was measured; it ends a range that begins at the point before, or
// without CPUs.
type point struct {
	cpus int
	rate float64
	bend float64 // relative, at most 1: how far the middle lay from a straight line when the range was cut
}

// NewSearch returns a search over 1 to most CPUs.
func NewSearch(most int) *Search { return &Search{most: most} }

// Points returns the most points that a search over so many CPUs takes.
func Points(most int) int { return min(max(0, most), bits.Len(uint(max(0, most)))+spare) }

// Next returns the CPU count to measure next; ok is false if there is none.
func (s *Search) Next() (cpus int, ok bool) {
	if len(s.points) >= Points(s.most) {
		return 0, false
	}
	if len(s.points) == 0 {
		return s.most, true
	}
	before, most := point{}, 0.0
	for _, p := range s.points {
		gain := 1 - before.rate/p.rate // NaN at a rate of 0
		doubt := (p.bend + Improvement) * gain
		if p.cpus-before.cpus > 1 && gain > Improvement && doubt > most {
			cpus, most = (before.cpus+p.cpus)/2, doubt
		}
		before = p
	}
	return cpus, cpus > 0
}

// Learn records the samples per second that were measured with a CPU count that Next
// returned. The rate must be finite and not negative.
func (s *Search) Learn(cpus int, rate float64) {
	i, _ := slices.BinarySearchFunc(s.points, cpus, func(p point, c int) int { return p.cpus - c })
	p := point{cpus: cpus, rate: rate, bend: 1}
	if i < len(s.points) {
		before, after := point{}, &s.points[i]
		if i > 0 {
			before = s.points[i-1]
		}
		straight := before.rate + (after.rate-before.rate)*float64(cpus-before.cpus)/float64(after.cpus-before.cpus)
		p.bend = min(1, math.Abs(rate/straight-1))
		after.bend = p.bend
	}
	s.points = slices.Insert(s.points, i, p)
}

// CPUCost returns how long one replica is busy measuring points whose iterations
// take the given times.
func CPUCost(iterations ...time.Duration) time.Duration {
	total := time.Duration(0)
	for _, it := range iterations {
		total += IterationsPerPoint * it
	}
	return total
}
