// This file estimates how much another period of equal length may differ.

package statistics

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
)

// A Pair is a duration of one job under two policies, for example its wait.
type Pair struct {
	At         float64 // submission time in seconds
	Was, Would float64 // seconds under the first and the second policy, at least 0
}

// A Change is the mean of Would divided by the mean of Was. Its interval predicts this ratio for another period of the
// same length.
type Change struct{ Ratio, Low, High float64 }

// resamples is how many pairs of periods are drawn at random to compute an interval.
const resamples = 2000

// Share is the probability of all intervals: an interval for a ratio of two policies contains, with this probability,
// the ratio that another period of the same length would have.
const Share = 0.8

// blocks is the number of blocks of a period shorter than ten weeks.
const blocks = 10

const week = 7 * 24 * 3600

// least is added to means, in seconds, so that ratios stay finite.
const least = 1

// Between returns the ratio by which the mean changes from Was to Would. Its interval predicts the ratio of another
// period. To estimate it, Between draws pairs of periods block by block, and compares the logarithms of their ratios.
// Blocks are weeks, or a tenth of a shorter period. The interval is unbounded if nearly all waiting was in one block.
// seed determines the draws.
//
// Source: Efron and Tibshirani, An Introduction to the Bootstrap, §8.6 (blocks).
func Between(pairs []Pair, seed uint64) Change {
	sums := cut(pairs)
	all := total(sums, func(i int) int { return i })
	c := Change{Ratio: all, Low: all, High: all}
	free := congestions(sums) - 1
	if free < leastFree || few(sums) {
		c.Low, c.High = 0, math.Inf(1)
		return c
	}
	draw := rng.Stream(seed, "resample")
	wider := widened(len(sums), free)
	off := make([]float64, resamples)
	for i := range off {
		one := total(sums, func(int) int { return draw.IntN(len(sums)) })
		other := total(sums, func(int) int { return draw.IntN(len(sums)) })
		off[i] = wider * (math.Log(one) - math.Log(other))
	}
	slices.Sort(off)
	edge := int((1 - Share) / 2 * resamples)
	c.Low, c.High = all*math.Exp(off[edge]), all*math.Exp(off[resamples-1-edge])
	return c
}

// leastFree is the number of congestions above one that an interval needs.
const leastFree = 0.25

// nothing is the wait without any competing job, in seconds.
const nothing = 5

func few(sums []sum) bool {
	var all sum
	for i := range sums {
		all.jobs, all.was = all.jobs+sums[i].jobs, all.was+sums[i].was
	}
	return all.was < nothing*all.jobs
}

// congestions returns the number of blocks of equal waiting that are as informative. Source: Kish, Survey
// Sampling, 1965 (effective sample size).
func congestions(sums []sum) float64 {
	all, squares := 0.0, 0.0
	for i := range sums {
		w := sums[i].was + sums[i].would
		all, squares = all+w, squares+w*w
	}
	if squares == 0 {
		return 0
	}
	return all * all / squares
}

// widened returns the factor that corrects the interval of n drawn blocks. It includes the root of n/(n-1), and
// Student's t to first order for the estimated variance.
// Source: Abramowitz and Stegun, 26.7.5.
func widened(n int, free float64) float64 {
	const z = 1.2816 // normal distribution, middle 80 %
	return math.Sqrt(float64(n)/float64(n-1)) * (1 + (z*z+1)/(4*free))
}

type sum struct{ jobs, was, would float64 }

func cut(pairs []Pair) []sum {
	if len(pairs) == 0 {
		return nil
	}
	at := func(a, b Pair) int { return int(math.Copysign(1, a.At-b.At)) }
	first, last := slices.MinFunc(pairs, at).At, slices.MaxFunc(pairs, at).At
	length := (last - first) / blocks
	if length >= week {
		length = week
	}
	byBlock := make(map[int]int) // index in sums by block
	var sums []sum
	for _, p := range pairs {
		block := 0
		if length > 0 {
			block = int((p.At - first) / length)
		}
		i, ok := byBlock[block]
		if !ok {
			i = len(sums)
			byBlock[block], sums = i, append(sums, sum{})
		}
		s := &sums[i]
		s.jobs, s.was, s.would = s.jobs+1, s.was+p.Was, s.would+p.Would
	}
	return sums
}

func total(sums []sum, which func(int) int) float64 {
	var all sum
	for i := range sums {
		s := &sums[which(i)]
		all.jobs, all.was, all.would = all.jobs+s.jobs, all.was+s.was, all.would+s.would
	}
	if all.jobs == 0 {
		return 1
	}
	return (all.would/all.jobs + least) / (all.was/all.jobs + least)
}
