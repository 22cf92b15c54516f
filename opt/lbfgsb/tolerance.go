package lbfgsb

// WithTolerance returns a minimiser with one tolerance for decrease and slope, as SciPy's. It writes the final
// point to x. It is not safe for concurrent use.
func WithTolerance() func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
	var m Minimizer
	return func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
		m.Minimize(x, low, high, f, Options{Decrease: tolerance, Gradient: tolerance})
	}
}
