package statistics

import (
	"math"

	"github.com/oxgang/oxgang/model/job"
)

// A Difference states by how much a mean completion time is longer than another, as a fraction (negative if shorter),
// with an interval at confidence Level.
type Difference struct {
	Part  float64 `json:"part"` // the fraction
	Low   float64 `json:"low"`  // lower bound, if Known
	High  float64 `json:"high"` // upper bound, if Known
	Known bool    `json:"known"`
}

// Difference returns by how much the mean completion time under policy is longer than under other, as a geometric mean
// over seeds.
func (v *Verdict) Difference(policy, other string) Difference {
	if len(v.Seeds) == 1 {
		return v.blocks(policy, other)
	}
	logs, positive := v.pairs(JCT, policy, other)
	i := MeanInterval(logs, Level)
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
	i := MeanInterval(pairs, Level)
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

// blocks compares one history by blocks of time, over jobs that completed under both policies.
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
