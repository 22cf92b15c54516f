package forecast_test

import (
	"math"

	"github.com/oxgang/oxgang/model/forecast"
)

// mse returns the mean squared error of a model's predictions one step ahead,
// over values that it has not seen; after each prediction it observes the value.
// It is 0 if there are none. Source: Lyra §6, "Inference resource usage
// predictor".
func mse(m forecast.Model, unseen []float64) float64 {
	sum := 0.0
	for _, busy := range unseen {
		e := m.Predict(1).Mean[0] - busy
		sum += e * e
		m.Observe(busy)
	}
	return sum / math.Max(1, float64(len(unseen)))
}
