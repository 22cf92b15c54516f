package copter

import (
	"errors"
	"fmt"
	"math"
)

// Options are the tolerances and limits of a Solver.
type Options struct {
	Primal  float64 // largest relative violation of a row or bound
	Dual    float64 // largest relative reduced cost of the wrong sign
	Gap     float64 // largest relative distance from the proven bound
	Passes  int     // limit of passes over all columns
	Outer   int     // limit of proximal steps per working set
	Steps   int     // limit of Newton steps per proximal step
	Threads int     // the result does not depend on it
	Polish  bool    // move to a vertex at the end
}

const (
	maxConjugate = 200 // conjugate gradient steps per Newton step
	coldWeight   = 1.0
	shrink       = 0.2 // factor of that weight per step
	workingSet   = 16  // columns per row
)

// DefaultOptions returns tolerances of 1e-4 and one thread.
func DefaultOptions() Options {
	return Options{
		Primal: 1e-4, Dual: 1e-4, Gap: 1e-4, Passes: 60, Outer: 60, Steps: 60,
		Threads: 1,
	}
}

// Validate returns all errors in the options.
func (o Options) Validate() error {
	var errs []error
	inside := func(name string, v, low, high float64) {
		if !(v >= low && v <= high) {
			errs = append(errs, fmt.Errorf("%s %v, want %v to %v", name, v, low, high))
		}
	}
	inside("primal tolerance", o.Primal, 1e-12, 1)
	inside("dual tolerance", o.Dual, 1e-12, 1)
	inside("gap tolerance", o.Gap, 1e-12, 1)
	inside("passes", float64(o.Passes), 1, math.MaxInt32)
	inside("outer steps", float64(o.Outer), 1, math.MaxInt32)
	inside("newton steps", float64(o.Steps), 1, math.MaxInt32)
	inside("threads", float64(o.Threads), 1, 1024)
	return errors.Join(errs...)
}
