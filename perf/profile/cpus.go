package profile

import (
	"math/bits"
	"slices"
	"time"

	"github.com/oxgang/oxgang/perf"
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
// Deviation: the paper goes on in the upper half or in the lower. Here the range
// whose ends differ most, by their ratio, is next, because a curve is wanted
// over all of the range, whose error is largest there.
type Search struct {
	points []perf.CPURate // by ascending CPUs
	most   int
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
	before, widest := perf.CPURate{}, 1-Improvement
	for _, p := range s.points {
		if p.CPUs-before.CPUs >= 2 && before.Rate < widest*p.Rate {
			cpus, widest = int(before.CPUs+p.CPUs)/2, before.Rate/p.Rate
		}
		before = p
	}
	return cpus, cpus > 0
}

// Learn takes in the samples per second measured with a CPU count that Next
// returned. The rate must be finite and not negative.
func (s *Search) Learn(cpus int, rate float64) {
	i, _ := slices.BinarySearchFunc(s.points, cpus, func(p perf.CPURate, c int) int { return int(p.CPUs) - c })
	s.points = slices.Insert(s.points, i, perf.CPURate{CPUs: float64(cpus), Rate: rate})
}

// Curve returns what was measured, by ascending CPUs. Callers must not modify it.
func (s *Search) Curve() []perf.CPURate { return s.points }

// CPUCost returns how long one replica is busy measuring points whose iterations
// take the given times.
func CPUCost(iterations ...time.Duration) time.Duration {
	total := time.Duration(0)
	for _, it := range iterations {
		total += IterationsPerPoint * it
	}
	return total
}
