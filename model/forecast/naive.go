package forecast

import (
	"math"
)

// Last is the Model that predicts the last observed value for all times.
type Last struct {
	busy   float64
	spread *Spread
}

// NewLast returns a Last for load curves with perDay values per day, at least 1.
func NewLast(perDay int) *Last { return &Last{spread: NewSpread(max(perDay, 1))} }

// Observe implements Model.
func (l *Last) Observe(busy float64) {
	l.busy = Clean(busy, l.busy)
	l.spread.Observe(l.busy)
	for i := range l.spread.at {
		l.spread.predicted(i, l.busy)
	}
}

// Predict implements Model.
func (l *Last) Predict(ahead int) Forecast {
	f := New(ahead)
	for i := range f.Mean {
		f.Mean[i] = l.busy
	}
	l.spread.Fill(f)
	return f
}

// SeasonalNaive is the Model that predicts the value at the same time of the previous day.
type SeasonalNaive struct {
	seen   int
	busy   float64
	past   []float64 // the last day, by index of the value modulo values per day
	spread *Spread
}

// NewSeasonalNaive returns a SeasonalNaive for load curves with perDay values per day, at least 1.
func NewSeasonalNaive(perDay int) *SeasonalNaive {
	perDay = max(perDay, 1)
	return &SeasonalNaive{past: make([]float64, perDay), spread: NewSpread(perDay)}
}

// Observe implements Model.
func (s *SeasonalNaive) Observe(busy float64) {
	s.busy = Clean(busy, s.busy)
	s.past[s.seen%len(s.past)] = s.busy
	s.seen++
	s.spread.Observe(s.busy)
	if s.seen == len(s.past) {
		s.spread.restart()
	}
	for i, h := range s.spread.at {
		s.spread.predicted(i, s.mean(h))
	}
}

func (s *SeasonalNaive) mean(h int) float64 {
	if s.seen < len(s.past) {
		return s.busy
	}
	return s.past[(s.seen+h-1)%len(s.past)]
}

// Predict implements Model. On the first day it predicts the last observed value.
func (s *SeasonalNaive) Predict(ahead int) Forecast {
	f := New(ahead)
	for i := range f.Mean {
		f.Mean[i] = s.mean(i + 1)
	}
	s.spread.Fill(f)
	return f
}

// A Model predicts a load curve, the fraction of busy GPUs at regular intervals, from its past values. Predictions
// depend only on the parameters and the observed values.
type Model interface {
	// Observe adds the next value, clipped to 0 to 1; NaN repeats the previous value.
	Observe(busy float64)
	// Predict returns the forecast of the next ahead values. Before the first observation it is 0.5 ± 0.5.
	Predict(ahead int) Forecast
}

// A Forecast has predicted values of a load curve; entry 0 is one step ahead. The caller may modify it.
type Forecast struct {
	Mean []float64 // 0 to 1
	SD   []float64 // expected root mean squared error, 0 to 0.5
}

// New returns an empty forecast of ahead steps.
func New(ahead int) Forecast {
	return Forecast{Mean: make([]float64, ahead), SD: make([]float64, ahead)}
}

// Share clips x to the range 0 to 1.
func Share(x float64) float64 { return min(max(x, 0), 1) }

// Clean returns a measured load clipped to 0 to 1, or the previous value if busy is NaN. Every Model cleans its
// observations with it.
func Clean(busy, previous float64) float64 {
	if math.IsNaN(busy) {
		return previous
	}
	return Share(busy)
}
