package forecast

import (
	"math"
)

// A Seasonal is a Model that predicts the average past day, plus today's deviation from it, as far as such deviations
// lasted in the past. It averages the deviation over several spans, and estimates by least squares how each average
// changes later values. On the first day it predicts the recent mean, and estimates how far to follow a trend.
//
// It stores about four days of predictions. For n values per day, an observation costs O(log n), and a forecast O(its
// length).
type Seasonal struct {
	busy    float64 // the last value
	profile *profile
	levels  [clues]float64 // averages of deviations from the profile, the last value first
	fade    float64        // factor on a deviation per step, before more is learned
	rungs   []regression   // corrections, by rung of the ladder
	past    [][]guess      // [rung][index of the value, modulo horizon]
	offsets []float64      // by rung: present correction of base
	spread  *Spread
}

type guess struct {
	base  float64 // without correction
	clues [clues]float64
}

// gains are the weights of the newest value in the averages.
var gains = [clues]float64{1, 1. / 3, 1. / 10, 1. / 50}

const (
	fadeTime    = 6.0 // a day over the time in which a deviation falls to 1/e: 4 hours, as in the shared curves (0.98 in 5 minutes)
	independent = 5   // pairs of disjoint spans that the prior of a coefficient counts as
	baseLevel   = 2   // index of the average in the prediction
	firstBase   = 1
)

// NewSeasonal returns a Seasonal for load curves with perDay values per day, at least 1.
func NewSeasonal(perDay int) *Seasonal {
	perDay = max(perDay, 1)
	s := &Seasonal{profile: newProfile(perDay), spread: NewSpread(perDay), fade: math.Exp(-fadeTime / float64(perDay))}
	s.rungs = make([]regression, len(s.spread.at))
	s.offsets = make([]float64, len(s.spread.at))
	for _, h := range s.spread.at {
		s.past = append(s.past, make([]guess, h))
	}
	s.forget()
	return s
}

func (s *Seasonal) forget() {
	for i, h := range s.spread.at {
		s.rungs[i] = regression{keep: s.spread.keep, prior: independent * float64(h)}
	}
}

// Observe implements Model.
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

// follow updates the averages: of the values on the first day, of deviations from the profile later.
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

func (s *Seasonal) expect() {
	g := guess{clues: s.clues()}
	for i, h := range s.spread.at {
		g.base = s.base(h)
		s.past[i][s.spread.seen%h] = g
		s.offsets[i] = s.rungs[i].expect(g.clues)
		s.spread.predicted(i, Share(g.base+s.offsets[i]))
	}
}

func (s *Seasonal) clues() (x [clues]float64) {
	for i := range clues - 1 {
		x[i] = s.levels[i] - s.levels[i+1]
	}
	if s.profile.days > 0 {
		x[clues-1] = s.levels[clues-1]
	}
	return x
}

func (s *Seasonal) base(h int) float64 {
	if s.profile.days == 0 {
		return s.levels[firstBase]
	}
	return s.profile.ahead(h) + math.Pow(s.fade, float64(h))*s.levels[baseLevel]
}

// Predict implements Model. Standard deviations come from the errors of past predictions. They do not decrease for
// values further ahead.
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

// A profile is the smoothed mean of past days by time of day; older days count less.
type profile struct {
	days   int
	today  []float64 // values of the present day
	mean   []float64 // by time of day, over complete days
	smooth []float64
	reach  int // steps of smoothing to either side
}

const (
	profileReach  = 96  // a day over the smoothing on either side: 15 minutes
	profileLatest = 0.1 // least weight of the latest day
)

func newProfile(day int) *profile {
	return &profile{mean: make([]float64, day), smooth: make([]float64, day), reach: day / profileReach}
}

func (p *profile) observe(busy float64) bool {
	if p.today = append(p.today, busy); len(p.today) < len(p.mean) {
		return false
	}
	p.days++
	w := math.Max(1/float64(p.days), profileLatest)
	for i, b := range p.today {
		p.mean[i] += w * (b - p.mean[i])
	}
	p.today = p.today[:0]
	for i := range p.smooth {
		p.smooth[i] = p.around(i)
	}
	return true
}

func (p *profile) around(i int) float64 {
	sum, weight, day := 0.0, 0.0, len(p.mean)
	for d := -p.reach; d <= p.reach; d++ {
		w := float64(p.reach + 1 - max(d, -d))
		sum += w * p.mean[(i+d+day)%day]
		weight += w
	}
	return sum / weight
}

func (p *profile) ahead(h int) float64 {
	return p.smooth[(len(p.today)+h-1)%len(p.smooth)]
}

const clues = 4

const tiny = 1e-12

// A regression fits a linear function of the clues by least squares, with fading weights. A prior draws each
// coefficient towards 0.
type regression struct {
	keep   float64 // weight of the past from pair to pair
	prior  float64 // number of pairs that the prior counts as
	pairs  float64 // weighted number of observed pairs
	square [clues][clues]float64
	cross  [clues]float64
}

func (r *regression) observe(x [clues]float64, y float64) {
	r.pairs = r.keep*r.pairs + 1
	for i := range x {
		for j := range x {
			r.square[i][j] = r.keep*r.square[i][j] + x[i]*x[j]
		}
		r.cross[i] = r.keep*r.cross[i] + x[i]*y
	}
}

func (r *regression) expect(x [clues]float64) float64 {
	sum := 0.0
	for i, b := range r.coefficients() {
		sum += b * x[i]
	}
	return sum
}

// coefficients solves (square + prior)·b = cross. The matrix is positive definite, so it needs no pivots.
func (r *regression) coefficients() [clues]float64 {
	a, b := r.square, r.cross
	for i := range a {
		a[i][i] = a[i][i]*(1+r.prior/math.Max(r.pairs, 1)) + tiny
	}
	for k := range clues {
		for i := k + 1; i < clues; i++ {
			w := a[i][k] / a[k][k]
			for j := k; j < clues; j++ {
				a[i][j] -= w * a[k][j]
			}
			b[i] -= w * b[k]
		}
	}
	for k := clues - 1; k >= 0; k-- {
		for j := k + 1; j < clues; j++ {
			b[k] -= a[k][j] * b[j]
		}
		b[k] /= a[k][k]
	}
	return b
}
