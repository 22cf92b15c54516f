package lbfgsb

// WithTolerance returns a function that minimises f between low and high, with one tolerance for decrease and slope,
// as in SciPy. It writes the final point to x.
func WithTolerance() func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
	var m Minimizer
	return func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
		m.Minimize(x, low, high, f, Options{Decrease: tolerance, Gradient: tolerance})
	}
}
