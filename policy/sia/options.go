package sia

import (
	"errors"
	"fmt"
	"math"

	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/policy/goodput"
)

// Solvers of the allocation program; engine.Names lists all solvers.
const (
	Price = "price" // prices GPUs, then searches by branch and bound
	Exact = "exact" // the solver HiGHS
)

// Options configure Sia.
type Options struct {
	goodput.Options         // P -0.5 (§3.3.4), Growth 2 (§3.3.1), Solver Price and Cells by default
	Lambda          float64 // λ: penalty for giving a job nothing; default 1.1 (§3.4.3)
	FreeYoung       bool    // no restart factor while a job is younger than a restart takes
}

// DefaultOptions returns the settings of the thesis.
func DefaultOptions() Options {
	return Options{Options: goodput.Options{P: -0.5, Growth: 2, Cells: true, Solver: Price}, Lambda: 1.1}
}

// PublicCode selects the rules of Sia's published simulator.
func (o *Options) PublicCode() {
	o.Rules = goodput.Rules{RoundCosts: true, ValidMinimum: true, HistoricGrowth: true}
	o.FreeYoung = true
}

// Solvers returns the names that Options.Solver accepts.
func Solvers() []string { return engine.Names() }

// Validate returns all errors in o, joined.
func (o *Options) Validate() error {
	err := o.Options.Validate()
	if !(o.Lambda > 0) || math.IsInf(o.Lambda, 0) {
		err = errors.Join(err, fmt.Errorf("lambda %v, want more than 0", o.Lambda))
	}
	return err
}
