package pollux

import (
	"errors"
	"fmt"
	"math"
)

// Options configure Pollux.
type Options struct {
	P           float64 // exponent of the power mean of speedups, not 0; lower is fairer; default -1 (§4.2)
	Growth      float64 // largest number of GPUs of a job, relative to the most that it has had; default 2 (§4.1)
	Population  int     // number of matrices in a generation; default 100 (public code)
	Generations int     // number of generations per round; default 100 (public code)
	Patience    int     // number of generations without progress after which the search ends; 0: never; default 20
	Seed        uint64
}

// DefaultOptions returns the published settings.
func DefaultOptions() Options {
	return Options{P: -1, Growth: 2, Population: 100, Generations: 100, Patience: 20}
}

// Validate returns all errors of o.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.P == 0 || math.IsNaN(o.P) || math.Abs(o.P) > 10 {
		bad("p %v, want -10 to 10 and not 0", o.P)
	}
	if !(o.Growth >= 1 && o.Growth <= 1e6) {
		bad("growth %v, want 1 to 1e+06", o.Growth)
	}
	if o.Population < 2 || o.Population > 10000 {
		bad("population %d, want 2 to 10000", o.Population)
	}
	if o.Generations < 1 || o.Generations > 10000 {
		bad("generations %d, want 1 to 10000", o.Generations)
	}
	if o.Patience < 0 {
		bad("patience %d, want at least 0", o.Patience)
	}
	return errors.Join(errs...)
}
