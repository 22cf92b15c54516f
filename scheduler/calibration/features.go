package calibration

import "math"

// The features of a guess decide which guesses are like it: the logarithm of its length in rounds, and the
// spread of its times.
type features struct{ length, apart float64 }

func (r *Record) features(g Guess) features {
	e := g.errors(0, r.round)
	return features{math.Log(g.length(r.round) / r.round.Seconds()), spread(e[0] - e[2])}
}

func (f features) rounded() features {
	return features{math.Round(perBand*f.length) / perBand, math.Round(perBand*f.apart) / perBand}
}

// spread is 0 for equal times, and beyond hardlyApart about 1 more for each factor of e. ratio is the logarithm
// of their ratio.
func spread(ratio float64) float64 { return math.Log(1 + math.Abs(ratio)/hardlyApart) }

func (f features) weight(of features) float64 {
	a, b := (f.length-of.length)/bandwidth, (f.apart-of.apart)/bandwidth
	return math.Exp(-(a*a + b*b) / 2)
}

func (b *before) features() features { return features{b.length, spread(b.errors[0] - b.errors[2])} }
