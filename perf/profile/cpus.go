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

// Improvement is the part of a throughput that CPUs have to add for the CPU
// counts between to be worth a look. Source: Synergy §3.1 ("say 10%").
const Improvement = 0.1

// spare is how many points a search has beyond those of a plain binary search.
const spare = 3

// A Search chooses the CPU counts at which to measure a job with all the memory
// there is: optimistic profiling. Measure at what Next returns, tell Learn, and
// ask again until Next has nothing more. The zero value has nothing to measure.
//
// It begins with the most CPUs and halves the range. Where the middle is less
// than Improvement slower than the upper end, all between them is as good as
// known, and the search goes on in the lower half; otherwise it goes on in both.
// No CPUs prepare nothing, so that the lowest range begins there. A search takes
// at most Points points: 8 of 24 CPUs, as in the paper. Source: Synergy §3.1.
//
// Deviation: the paper goes on in the upper half or in the lower one. Here the
// range is next in which a straight line may be furthest off, because a curve is
// wanted over all CPU counts: one where the last middle lay far from a straight
// line, and whose ends differ much. A middle may lie on the line by chance, so
// that no range counts as straight to more than Improvement.
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

// Learn takes in the samples per second measured with a CPU count that Next
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
