package sia

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/opt/exact"
)

// The engines of the allocation program that are named here; engine.Names has
// all.
const (
	Price = "price" // prices, then branch and bound
	Exact = "exact" // HiGHS
)

// Options configure the policy.
type Options struct {
	P      float64 // fairness exponent, not 0; default -0.5 (§3.3.4)
	Lambda float64 // penalty for giving a job nothing; default 1.1 (§3.4.3)
	Growth float64 // a job's GPUs may grow by this factor a round; default 2 (§3.3.1)
	Solver string  // the engine: see opt/engine; default Price
	Cells  bool    // CPUs and memory are chosen with GPUs, where nodes count them; default true
	Ties   uint64  // which of equally good plans: 0 (default) first come first served, others at random
	Rules  Rules
}

// Rules are departures of the public code from the thesis; see the package
// comment.
type Rules struct {
	RoundCosts     bool
	ValidMinimum   bool
	HistoricGrowth bool
	FreeYoung      bool
}

// PublicCode returns the rules of the public code.
func PublicCode() Rules {
	return Rules{RoundCosts: true, ValidMinimum: true, HistoricGrowth: true, FreeYoung: true}
}

// DefaultOptions returns the thesis' settings.
func DefaultOptions() Options {
	return Options{P: -0.5, Lambda: 1.1, Growth: 2, Cells: true, Solver: Price}
}

// Solvers returns the names of the solvers that Options.Solver may have.
func Solvers() []string { return engine.Names() }

// Validate returns an error that joins all complaints about o.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.P == 0 || math.IsNaN(o.P) || math.Abs(o.P) > 10 {
		bad("p %v, want -10 to 10 and not 0", o.P)
	}
	if !(o.Lambda > 0) || math.IsInf(o.Lambda, 0) {
		bad("lambda %v, want more than 0", o.Lambda)
	}
	if !(o.Growth >= 1) {
		bad("growth %v, want at least 1", o.Growth)
	}
	if err := engine.Check(o.Solver); err != nil && !errors.Is(err, exact.ErrUnavailable) {
		bad("solver %q, want one of %s", o.Solver, strings.Join(engine.Names(), ", "))
	}
	return errors.Join(errs...)
}
