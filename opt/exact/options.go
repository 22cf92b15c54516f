package exact

import (
	"errors"
	"fmt"
)

// A Method is an algorithm for linear programs. Integer programs are always
// solved by branch and cut.
type Method string

// The methods. InteriorPoint ends with a crossover to a vertex unless
// Options.NoCrossover; PDLP never has a vertex.
const (
	Choose        Method = "choose"  // HiGHS chooses: simplex, in this version
	Simplex       Method = "simplex" // dual simplex; ends at a vertex
	InteriorPoint Method = "ipm"
	PDLP          Method = "pdlp" // first-order, on the CPU; to a coarse tolerance
)

// Options says how to solve. The zero value is not complete: start from
// DefaultOptions.
type Options struct {
	Method Method
	// NoCrossover leaves an interior point where it is: faster, but not a vertex.
	NoCrossover bool
	// NoPresolve solves the program as it stands.
	NoPresolve bool
	// Tolerance is HiGHS' absolute tolerance on rows, bounds and reduced costs,
	// of interior point and PDLP also the relative one on the gap. At least 1e-10.
	Tolerance float64
	// MIPGap is the relative gap at which an integer program may stop; 0 proves
	// the optimum.
	MIPGap float64
	// MaxIterations limits the iterations of the method, 0 not at all. Of an
	// integer program it limits each linear program within.
	MaxIterations int
	// MaxNodes limits the nodes of an integer program; 0: no limit.
	MaxNodes int
	// Threads may be used; with more than 1 the answer may depend on timing where
	// there is more than one.
	Threads int
}

// DefaultOptions is a proven optimum at a vertex, to 1e-9, on one thread.
func DefaultOptions() Options {
	return Options{Method: Choose, Tolerance: 1e-9, Threads: 1}
}

// Validate joins all that is wrong with the options.
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
	if o.MaxIterations < 0 || o.MaxNodes < 0 {
		all = append(all, fmt.Errorf("limits of %d iterations and %d nodes, want at least 0", o.MaxIterations, o.MaxNodes))
	}
	if o.Threads < 1 {
		all = append(all, fmt.Errorf("threads %d, want at least 1", o.Threads))
	}
	return errors.Join(all...)
}
