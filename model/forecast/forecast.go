package forecast

import "math"

// A Model is told a load curve value by value and predicts those to come. The
// values are shares of GPUs, at equal distances of time. What a model predicts
// depends on how it was made and on what it observed, in order, alone.
type Model interface {
	// Observe tells the model the next value. One outside 0 to 1 counts as the
	// nearer of the two, one that is not a number as the value before it.
	Observe(busy float64)
	// Predict returns the forecast of so many values, the first being that after
	// the last one observed. Before that nothing is known: 0.5 ± 0.5.
	Predict(ahead int) Forecast
}

// A Forecast is what a model expects of the next values, by step ahead: the
// first entry is one step ahead. It belongs to the caller.
type Forecast struct {
	Mean []float64 // 0 to 1
	SD   []float64 // root of the mean squared error expected, 0 to 0.5
}

// Upper returns what the value of entry i is expected to stay below but for the
// probability that a normal variable exceeds z standard deviations (1.645: 5 %),
// 0 to 1.
func (f Forecast) Upper(i int, z float64) float64 { return Share(f.Mean[i] + z*f.SD[i]) }

// New returns an empty forecast.
func New(ahead int) Forecast {
	return Forecast{Mean: make([]float64, ahead), SD: make([]float64, ahead)}
}

// Share returns x within 0 to 1.
func Share(x float64) float64 { return min(max(x, 0), 1) }

// Clean returns a value as Model.Observe takes it, given the one before.
func Clean(busy, before float64) float64 {
	if math.IsNaN(busy) {
		return before
	}
	return Share(busy)
}
