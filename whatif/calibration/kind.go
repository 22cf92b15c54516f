package calibration

import "math"

// A kind says which guesses are alike: by the logarithm of their length in rounds, and by how far apart their two times are (spread).
type kind struct{ length, apart float64 }

// kind returns the kind of a guess.
func (r *Record) kind(g Guess) kind {
	e := g.errors(0, r.round)
	return kind{math.Log(g.length(r.round) / r.round.Seconds()), spread(e[0] - e[2])}
}

// rounded returns the middle of the band of kinds for which quantiles are computed once.
func (k kind) rounded() kind {
	return kind{math.Round(perBand*k.length) / perBand, math.Round(perBand*k.apart) / perBand}
}

// spread returns a measure of how far apart two times are whose ratio has this logarithm: 0 if they are equal, and about 1 more for each e times as much,
// from hardlyApart on.
func spread(ratio float64) float64 { return math.Log(1 + math.Abs(ratio)/hardlyApart) }

// weight returns how much an error of another kind of guess counts, at most 1.
func (k kind) weight(of kind) float64 {
	a, b := (k.length-of.length)/bandwidth, (k.apart-of.apart)/bandwidth
	return math.Exp(-(a*a + b*b) / 2)
}

// kind returns the kind of the prediction: how far apart its times were is how far apart its errors are.
func (b *before) kind() kind { return kind{b.length, spread(b.errors[0] - b.errors[2])} }
