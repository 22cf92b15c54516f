package themis

import "fmt"

// Options configure Themis.
type Options struct {
	// Filter is the fraction of jobs that may bid, in (0, 1]: the jobs with the worst finish-time fairness. A
	// smaller fraction is fairer, a larger one more efficient. Default 0.2 (Themis: 1-f is 0.2).
	Filter float64
	// Adaptive uses 1/3 or 2/3 instead of Filter. Default false.
	Adaptive bool
	// Payments makes winners pay with a part of their GPUs. Default true.
	Payments bool
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options { return Options{Filter: 0.2, Payments: true} }

// Validate returns an error if Filter is outside the range that its field documents.
func (o *Options) Validate() error {
	if !(o.Filter > 0 && o.Filter <= 1) {
		return fmt.Errorf("filter %v, want above 0 and at most 1", o.Filter)
	}
	return nil
}
