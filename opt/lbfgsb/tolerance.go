package lbfgsb

// WithTolerance returns a Minimize that keeps its scratch memory between calls and stops where
// f decreases, or slopes, by less than one tolerance: as the public simulator calls SciPy's.
// x becomes where it ends. It is not safe for concurrent use.
func WithTolerance() func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
	var m Minimizer
	return func(x, low, high []float64, f func(x, grad []float64) float64, tolerance float64) {
		m.Minimize(x, low, high, f, Options{Decrease: tolerance, Gradient: tolerance})
	}
}
