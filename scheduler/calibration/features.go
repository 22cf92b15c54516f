package calibration

import "math"

// The features of a guess say which guesses are like it: by the logarithm of their length in rounds, and by how far apart their two times are (spread).
type features struct{ length, apart float64 }

// features returns the features of a guess.
func (r *Record) features(g Guess) features {
	e := g.errors(0, r.round)
	return features{math.Log(g.length(r.round) / r.round.Seconds()), spread(e[0] - e[2])}
}

// rounded returns the middle of the band of features for which quantiles are computed once.
func (f features) rounded() features {
	return features{math.Round(perBand*f.length) / perBand, math.Round(perBand*f.apart) / perBand}
}

// spread returns a measure of how far apart two times are whose ratio has this logarithm: 0 if they are equal, and about 1 more for each e times as much,
// from hardlyApart on.
func spread(ratio float64) float64 { return math.Log(1 + math.Abs(ratio)/hardlyApart) }

// weight returns how much an error of a guess with other features counts, at most 1.
func (f features) weight(of features) float64 {
	a, b := (f.length-of.length)/bandwidth, (f.apart-of.apart)/bandwidth
	return math.Exp(-(a*a + b*b) / 2)
}

// features returns the features of the prediction: how far apart its times were is how far apart its errors are.
func (b *before) features() features { return features{b.length, spread(b.errors[0] - b.errors[2])} }
