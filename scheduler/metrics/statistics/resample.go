// This file says how far a figure of one stretch of time may be from that of another like it, by
// resampling blocks of time: jobs of one block wait for each other, so that they are drawn together.

package statistics

import (
	"math"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
)

// A Pair is a value of one job under two policies.
type Pair struct {
	At         float64 // when the job came, in seconds
	Was, Would float64 // at least 0, in seconds
}

// A Change is how many times the mean of Was that of Would is, with a range in which the same change would be of
// another stretch as long.
type Change struct{ Ratio, Low, High float64 }

// Draws is how many pairs of stretches are drawn.
const Draws = 2000

// Share is the part of stretches of which the change is in the range.
const Share = 0.8

// blocks is into how many blocks a stretch is cut that is no ten weeks long.
const blocks = 10

const week = 7 * 24 * 3600

// least is added to means, in seconds, so that ratios to no waiting are numbers.
const least = 1

// Between returns the change from Was to Would. The range is predictive: two stretches are drawn, block by block with
// replacement, and the logarithm of the change of one less that of the other is by how much the change of a third may
// differ from that of all pairs. Blocks are weeks, or a tenth of the time if that is less than ten weeks.
// Where nearly all of the waiting was in one block, or there was none, nothing is known of others: the range has no bounds. It costs Draws times the number of blocks.
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
	off := make([]float64, Draws)
	for i := range off {
		one := total(sums, func(int) int { return draw.IntN(len(sums)) })
		other := total(sums, func(int) int { return draw.IntN(len(sums)) })
		off[i] = wider * (math.Log(one) - math.Log(other))
	}
	slices.Sort(off)
	edge := int((1 - Share) / 2 * Draws)
	c.Low, c.High = all*math.Exp(off[edge]), all*math.Exp(off[Draws-1-edge])
	return c
}

// leastFree is of how many congestions more than one there must be for a range.
const leastFree = 0.25

// nothing is what jobs wait where nobody waits for another, in seconds: what a scheduler takes.
const nothing = 5

// few reports whether jobs waited for each other so little that nothing follows for times when they do.
func few(sums []sum) bool {
	var all sum
	for i := range sums {
		all.jobs, all.was = all.jobs+sums[i].jobs, all.was+sums[i].was
	}
	return all.was < nothing*all.jobs
}

// congestions returns how many blocks of equal waiting would say as much as these: few, if most of the waiting was in few blocks.
// Source: Kish, Survey Sampling, 1965 (effective sample size).
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

// widened returns by how much wider a range of n blocks has to be than that of draws: blocks that are drawn differ
// less than those to come, by the root of n over n-1, and a variance that is itself estimated, with so many degrees of freedom,
// widens the range as that of Student's distribution is wider than a normal one, here to the first order.
// Source: Abramowitz and Stegun, 26.7.5.
func widened(n int, free float64) float64 {
	const z = 1.2816 // of a normal distribution, 80 % in the middle
	return math.Sqrt(float64(n)/float64(n-1)) * (1 + (z*z+1)/(4*free))
}

// A sum is that of the pairs of one block.
type sum struct{ jobs, was, would float64 }

// cut returns the sums of blocks that have pairs.
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
	byBlock := make(map[int]int) // where the sum of a block is
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

// total returns the change over as many blocks as there are.
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
