// Package statistics compares runs. It decides which of several policies is best, by how much, and whether the
// difference exceeds chance. It also has a lower bound on mean completion times.
//
// Policies run the same jobs and are compared seed by seed, by the ratio of their values. The interval is
// Student's t over the logarithms of the ratios, so load cancels out. A recorded history has one seed: blocks of
// time are resampled.
//
// Source: Law, Simulation Modeling and Analysis, §10.2.1 (paired t) and §11.2 (common random numbers).
package statistics

import (
	"math"

	"github.com/oxgang/oxgang/model/job"
)

// An Interval is the mean of independent values, such as one value per seed, with its Student's t confidence interval.
type Interval struct {
	N         int     // number of values
	Mean      float64 // 0 if N is 0
	Low, High float64 // bounds, if Known
	Known     bool    // N is at least 2
}

// MeanInterval returns the mean of values with its confidence interval. level is the confidence, between 0 and 1,
// such as 0.95.
//
// Source: Law, Simulation Modeling and Analysis, §4.5.
func MeanInterval(values []float64, level float64) Interval {
	n := float64(len(values))
	if n == 0 {
		return Interval{}
	}
	var sum, squares float64
	for _, x := range values {
		sum += x
	}
	mean := sum / n
	for _, x := range values {
		squares += (x - mean) * (x - mean)
	}
	i := Interval{N: len(values), Mean: mean, Low: mean, High: mean}
	if len(values) < 2 {
		return i
	}
	wide := student((1+level)/2, len(values)-1) * math.Sqrt(squares/(n-1)/n)
	i.Low, i.High, i.Known = mean-wide, mean+wide, true
	return i
}

func student(p float64, freedom int) float64 {
	low, high := 0.0, 1.0
	for below(high, freedom) < p {
		high *= 2
	}
	for {
		middle := (low + high) / 2
		if middle <= low || middle >= high {
			return middle
		}
		if below(middle, freedom) < p {
			low = middle
		} else {
			high = middle
		}
	}
}

// below returns the probability that Student's t is at most t, for t >= 0.
// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
func below(t float64, freedom int) float64 {
	n := float64(freedom)
	cos2 := n / (n + t*t)
	sin := t / math.Sqrt(n+t*t)
	term, sum, from := 1.0, 0.0, 2
	if freedom%2 == 1 {
		term, from = math.Sqrt(cos2), 3
	}
	for i := from; i <= freedom; i += 2 {
		sum += term
		term *= cos2 * float64(i-1) / float64(i)
	}
	if freedom%2 == 1 {
		return 0.5 + (math.Atan(t/math.Sqrt(n))+sin*sum)/math.Pi
	}
	return 0.5 + sin*sum/2
}

// A Difference states by how much a mean completion time is longer than another, as a fraction (negative if shorter),
// with an interval at confidence Level.
type Difference struct {
	Part  float64 `json:"part"` // the fraction
	Low   float64 `json:"low"`  // lower bound, if Known
	High  float64 `json:"high"` // upper bound, if Known
	Known bool    `json:"known"`
}

// difference returns by how much the mean completion time under policy is longer than under other, as a geometric mean
// over seeds.
func (v *Verdict) difference(policy, other string) Difference {
	if len(v.Seeds) == 1 {
		return v.blocks(policy, other)
	}
	logs, positive := v.pairs(JCT, policy, other)
	i := MeanInterval(logs, level)
	return Difference{math.Expm1(i.Mean), math.Expm1(i.Low), math.Expm1(i.High), i.Known && positive}
}

// rounding is the relative difference below which values count as equal.
const rounding = 1e-9

func (v *Verdict) better(measure string, sign int, policy, other string) bool {
	if len(v.Seeds) == 1 {
		if measure != JCT {
			return false // unknown for one seed
		}
		d := v.blocks(policy, other)
		return d.Known && d.High < 0
	}
	pairs, _ := v.pairs(measure, policy, other)
	a, b := v.mean(policy, measure), v.mean(other, measure)
	if len(pairs) < len(v.Seeds) || float64(sign)*(a-b) <= rounding*max(math.Abs(a), math.Abs(b)) {
		return false
	}
	i := MeanInterval(pairs, level)
	return i.Known && (sign < 0 && i.High < 0 || sign > 0 && i.Low > 0)
}

// pairs returns logarithms of ratios per seed, or differences if some value is not positive; nil if one is
// unknown.
func (v *Verdict) pairs(measure, policy, other string) (pairs []float64, positive bool) {
	var ratios, differences []float64
	positive = true
	for i := range v.trials[policy] {
		a, known := v.trials[policy][i].Measures[measure]
		b, also := v.trials[other][i].Measures[measure]
		if !known || !also {
			return nil, false
		}
		positive = positive && a > 0 && b > 0
		ratios, differences = append(ratios, math.Log(a/b)), append(differences, a-b)
	}
	if !positive {
		return differences, false
	}
	return ratios, true
}

func (v *Verdict) blocks(policy, other string) Difference {
	was := make(map[job.ID]float64)
	for _, j := range v.trials[other][0].Jobs {
		if j.Done {
			was[j.ID] = j.JCT
		}
	}
	var pairs []Pair
	for _, j := range v.trials[policy][0].Jobs {
		if w, both := was[j.ID]; both && j.Done {
			pairs = append(pairs, Pair{At: j.Submitted, Was: w, Would: j.JCT})
		}
	}
	c := Between(pairs, 1)
	if math.IsInf(c.High, 1) { // JSON has no infinity
		return Difference{Part: c.Ratio - 1}
	}
	return Difference{c.Ratio - 1, c.Low - 1, c.High - 1, true}
}
