package forecast

import "math"

// A Seasonal model expects the profile of past days, plus what is left of today's
// deviation from it. The deviation is followed by averages of several lengths, and
// what they say of a value h steps ahead is learned by least squares, for each h
// of a ladder up to a day. Within the first day there is no profile: the model
// then expects the recent mean, and learns how far to follow a trend.
//
// It keeps about four days of expectations. A value costs as much to observe as twice
// the logarithm of the values in a day, a forecast as much as it is long: 15 days
// of values 5 minutes apart, each followed by a forecast of a day, take a tenth of
// a second.
type Seasonal struct {
	busy    float64 // the last value
	profile *profile
	levels  [clues]float64 // averages of deviations from the profile, the last value first
	fade    float64        // what a deviation keeps in a step, before more is known
	rungs   []regression   // how to correct the expectation, by rung of the ladder
	past    [][]guess      // [rung][values seen, modulo horizon]
	offsets []float64      // by rung: what to add to base, now
	spread  *Spread
}

// A guess is what was expected of a value, and why.
type guess struct {
	base  float64 // without the correction
	clues [clues]float64
}

// gains are the weights of the newest value in the averages.
var gains = [clues]float64{1, 1. / 3, 1. / 10, 1. / 50}

const (
	fadeTime    = 6.0 // part of a day in which a deviation falls to 1/e: 4 hours, as in the shared curves (0.98 in 5 minutes)
	independent = 5   // pairs of spans that do not overlap, which a coefficient of 0 is worth
	baseLevel   = 2   // the average that the expectation begins with
	firstBase   = 1   // that of the first day
)

// NewSeasonal returns a model of curves with so many values a day, at least 1.
func NewSeasonal(day int) *Seasonal {
	day = max(day, 1)
	s := &Seasonal{profile: newProfile(day), spread: NewSpread(day), fade: math.Exp(-fadeTime / float64(day))}
	s.rungs = make([]regression, len(s.spread.at))
	s.offsets = make([]float64, len(s.spread.at))
	for _, h := range s.spread.at {
		s.past = append(s.past, make([]guess, h))
	}
	s.forget()
	return s
}

// forget begins to learn the corrections anew.
func (s *Seasonal) forget() {
	for i, h := range s.spread.at {
		s.rungs[i] = regression{keep: s.spread.keep, prior: independent * float64(h)}
	}
}

// Observe tells the model the next value.
func (s *Seasonal) Observe(busy float64) {
	s.busy = Clean(busy, s.busy)
	s.learn()
	s.follow()
	if s.profile.observe(s.busy) && s.profile.days == 1 {
		s.levels = [clues]float64{}
		s.forget()
		s.spread.restart()
	}
	s.expect()
}

// learn compares the value with what was expected of it.
func (s *Seasonal) learn() {
	s.spread.Observe(s.busy)
	for i, h := range s.spread.at {
		if s.spread.seen-h < s.spread.from {
			return
		}
		g := &s.past[i][s.spread.seen%h]
		s.rungs[i].observe(g.clues, s.busy-g.base)
	}
}

// follow updates the averages, in the first day of values and then of what the
// profile does not say; the first value is all of them.
func (s *Seasonal) follow() {
	deviation := s.busy
	if s.profile.days > 0 {
		deviation -= s.profile.ahead(1)
	}
	for i, w := range gains {
		if s.spread.seen == 1 {
			w = 1
		}
		s.levels[i] += w * (deviation - s.levels[i])
	}
}

// expect keeps what is expected now, by rung.
func (s *Seasonal) expect() {
	g := guess{clues: s.clues()}
	for i, h := range s.spread.at {
		g.base = s.base(h)
		s.past[i][s.spread.seen%h] = g
		s.offsets[i] = s.rungs[i].expect(g.clues)
		s.spread.predicted(i, Share(g.base+s.offsets[i]))
	}
}

// clues returns the differences between averages, which are what is new and
// trends, and the longest average of deviations.
func (s *Seasonal) clues() (x [clues]float64) {
	for i := range clues - 1 {
		x[i] = s.levels[i] - s.levels[i+1]
	}
	if s.profile.days > 0 {
		x[clues-1] = s.levels[clues-1]
	}
	return x
}

// base returns what is expected h steps ahead, without the correction.
func (s *Seasonal) base(h int) float64 {
	if s.profile.days == 0 {
		return s.levels[firstBase]
	}
	return s.profile.ahead(h) + math.Pow(s.fade, float64(h))*s.levels[baseLevel]
}

// Predict returns the forecast of so many values. Its standard deviations are
// those of the predictions so far, and never fall with the horizon.
func (s *Seasonal) Predict(ahead int) Forecast {
	f := New(ahead)
	rung := 0
	for i := range f.Mean {
		var offset float64
		offset, rung = between(s.spread.at, s.offsets, i+1, rung)
		f.Mean[i] = Share(s.base(i+1) + offset)
	}
	s.spread.Fill(f)
	for i := 1; i < ahead; i++ {
		f.SD[i] = math.Max(f.SD[i], f.SD[i-1])
	}
	return f
}
