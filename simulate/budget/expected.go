package budget

import (
	"fmt"
	"math"
)

// A Range is an interval that contains the mean completion time of a plan with the given Probability. It comes from
// simulations, which include what the model of a plan ignores: nodes take time to start, whole nodes are rented,
// overspending must be saved later, and jobs arrive in some order.
type Range struct {
	Low         float64 `json:"low_s" yaml:"low_s"`
	High        float64 `json:"high_s" yaml:"high_s"`
	Middle      float64 `json:"geometric_mean_s" yaml:"geometric_mean_s"`
	Probability float64 `json:"probability" yaml:"probability"`
	Samples     int     `json:"samples" yaml:"samples"`
}

const probability = 0.9

// students are the 95th percentiles of Student's t, from 1 degree of freedom.
var students = [...]float64{
	6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
	1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699,
}

// MostSamples is the largest number of simulations from which Expect computes a Range.
const MostSamples = len(students) + 1

// Expect returns the interval in which the next simulated mean completion time will be. means are 2 to MostSamples
// simulated means in seconds; the interval is by Student's t on their logarithms.
func Expect(means []float64) *Range {
	n := float64(len(means))
	if len(means) < 2 || len(means) > MostSamples {
		return nil
	}
	sum, squares := 0.0, 0.0
	for _, x := range means {
		if !(x > 0) || math.IsInf(x, 1) {
			return nil
		}
		sum += math.Log(x)
	}
	for _, x := range means {
		off := math.Log(x) - sum/n
		squares += off * off
	}
	wide := students[len(means)-2] * math.Sqrt(squares/(n-1)*(1+1/n))
	middle := sum / n
	return &Range{Low: math.Exp(middle - wide), High: math.Exp(middle + wide), Middle: math.Exp(middle), Probability: probability, Samples: len(means)}
}

func (r *Range) words() string {
	if r == nil {
		return "not simulated"
	}
	return fmt.Sprintf("%s to %s (%.0f %% interval from %d simulations with the jobs in other orders)", formatSeconds(r.Low), formatSeconds(r.High), 100*r.Probability, r.Samples)
}
