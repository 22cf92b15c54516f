package lbfgsb

// WithTolerance returns a function that minimises f between low and high, starting from x, and writes the final point
// to x. tolerance is the limit for both Options.Decrease and Options.Gradient, as in SciPy.
func WithTolerance() func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
	var m Minimizer
	return func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
		m.Minimize(x, low, high, f, Options{Decrease: tolerance, Gradient: tolerance})
	}
}
