package forecast_test

import "math"

// Adam's constants are those that its authors (Kingma and Ba, 2015) propose.
const (
	adamMean   = 0.9
	adamSquare = 0.999
	adamFloor  = 1e-8
)

// An adam moves weights against their slopes, each at a pace of its own.
type adam struct {
	steps        int
	mean, square []float64 // of the slopes, older ones counting less
}

func newAdam(weights int) *adam {
	return &adam{mean: make([]float64, weights), square: make([]float64, weights)}
}

func (a *adam) step(weights, slope []float64, rate float64) {
	a.steps++
	mean := 1 - math.Pow(adamMean, float64(a.steps))
	square := 1 - math.Pow(adamSquare, float64(a.steps))
	for i, g := range slope {
		a.mean[i] += (1 - adamMean) * (g - a.mean[i])
		a.square[i] += (1 - adamSquare) * (g*g - a.square[i])
		weights[i] -= rate * a.mean[i] / mean / (math.Sqrt(a.square[i]/square) + adamFloor)
	}
}
