package exact

import (
	"errors"
	"fmt"
)

// A Method is an algorithm of the solver HiGHS for linear programs.
type Method string

// The methods. InteriorPoint moves to a vertex at the end unless Options.NoCrossover; PDLP never reaches a vertex.
const (
	Choose  Method = "choose"  // HiGHS chooses; simplex in this version
	Simplex Method = "simplex" // dual simplex; ends at a vertex
	// The methods. InteriorPoint ends at a vertex unless Options.NoCrossover is set; PDLP does not end at a vertex.
	InteriorPoint Method = "ipm"
	PDLP          Method = "pdlp" // first-order method on the CPU, with a coarse tolerance
)

// Options configure a Solver. Start from DefaultOptions.
type Options struct {
	Method Method
	// NoCrossover skips the move from an interior point to a vertex.
	NoCrossover bool
	// NoPresolve switches presolve off.
	NoPresolve bool
	// Tolerance, at least 1e-10, is absolute for rows, bounds and reduced costs, and relative for the gap of
	// interior point and PDLP.
	Tolerance float64
	// MIPGap is the relative gap at which integer programs stop.
	MIPGap float64
	// MaxIterations limits iterations of each linear program; 0: no limit.
	MaxIterations int
	// Threads above 1 let timing decide between equally good solutions.
	Threads int
}

// DefaultOptions returns options for solutions at a vertex, with tolerance 1e-9 and one thread.
func DefaultOptions() Options {
	return Options{Method: Choose, Tolerance: 1e-9, Threads: 1}
}

// Validate returns all errors in the options, joined.
func (o Options) Validate() error {
	var all []error
	switch o.Method {
	case Choose, Simplex, InteriorPoint, PDLP:
	default:
		all = append(all, fmt.Errorf("method %q, want choose, simplex, ipm or pdlp", o.Method))
	}
	if !(o.Tolerance >= 1e-10 && o.Tolerance <= 1) {
		all = append(all, fmt.Errorf("tolerance %v, want 1e-10 to 1", o.Tolerance))
	}
	if !(o.MIPGap >= 0) {
		all = append(all, fmt.Errorf("gap %v, want at least 0", o.MIPGap))
	}
	if o.MaxIterations < 0 {
		all = append(all, fmt.Errorf("limit of %d iterations, want at least 0", o.MaxIterations))
	}
	if o.Threads < 1 {
		all = append(all, fmt.Errorf("threads %d, want at least 1", o.Threads))
	}
	return errors.Join(all...)
}
