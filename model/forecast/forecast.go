package forecast

import "math"

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
