package oxgang

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

const (
	vague   = 1.0    // deviation of the log of an unstated length, relative to another such job
	bins    = 28 * 8 // of the logs of lengths, 0 to 28
	perUnit = bins / 28
)

// tails[d+bins−1] is the probability that a job is no shorter than one whose estimated length is d bins above its
// own.
var tails = func() (all [2*bins - 1]float64) {
	for i := range all {
		all[i] = tail(float64(i-(bins-1)) / perUnit / vague)
	}
	return all
}()

type spectrum struct {
	lengths []float64
	roots   float64
	longer  []float64 // by bin: expected number of jobs that are no shorter; empty: not yet computed
}

func (l *spectrum) collect(jobs []*policy.Job, states []*state) {
	l.lengths, l.roots, l.longer = l.lengths[:0], 0, l.longer[:0]
	for i, j := range jobs {
		if j.Phase != job.Profiling {
			l.lengths = append(l.lengths, states[i].length)
			l.roots += math.Sqrt(states[i].length)
		}
	}
	slices.Sort(l.lengths)
}

func bin(length float64) float64 {
	return min(bins-1, max(0, perUnit*math.Log(max(1, length))))
}

func (l *spectrum) count(length float64) float64 {
	shorter, _ := slices.BinarySearch(l.lengths, length)
	return float64(max(1, len(l.lengths)-shorter))
}

// expect returns the expected number for an estimated length: each job counts by the probability that it is no
// shorter. So a job that appears slightly shorter does not pass all similar ones.
func (l *spectrum) expect(length float64) float64 {
	if len(l.longer) == 0 {
		l.spread()
	}
	at := bin(length)
	low := int(at)
	high, part := min(bins-1, low+1), at-float64(low)
	return max(1, 0.5+(1-part)*l.longer[low]+part*l.longer[high]) // its own probability is a half, not 1
}

func (l *spectrum) spread() {
	var jobs [bins]float64
	for _, length := range l.lengths {
		jobs[int(math.Round(bin(length)))]++
	}
	l.longer = append(l.longer[:0], make([]float64, bins)...)
	for other, n := range jobs {
		for b := 0; n > 0 && b < bins; b++ {
			l.longer[b] += n * tails[b-other+bins-1]
		}
	}
}

// rank returns the number of jobs that are no shorter than a job, including itself. These end later by each second of
// the job, so rank is its weight for the mean completion time.
//
// A job of a fixed GPU count runs or waits; it cannot be slowed down a little. For such jobs alone Smith's rule is
// best, with a weight of 1/length. Their rank is the geometric mean of rank and Σ √(other / length) / 2. Among equal
// jobs the latter is the mean rank.
func (l *spectrum) rank(j *policy.Job, st *state) float64 {
	rank := l.count(st.length)
	if st.guessed {
		rank = l.expect(st.length)
	}
	if j.Adaptivity.Has(job.GPUCount) || !(st.length > 0) || math.IsInf(l.roots, 0) {
		return rank
	}
	return math.Sqrt(rank * l.roots / math.Sqrt(st.length) / 2)
}
