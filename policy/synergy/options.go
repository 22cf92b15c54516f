package synergy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/queue"
)

// A Mechanism is an algorithm that divides CPUs and host memory among jobs.
type Mechanism string

// The mechanisms.
const (
	Proportional Mechanism = "proportional" // CPUs and memory in proportion to GPUs (§2)
	Greedy       Mechanism = "greedy"       // a job gets its full demand, or waits in this round (§3.3)
	Tune         Mechanism = "tune"         // CPUs and memory by need; a job is at least as fast as under Proportional (§4.2)
	Opt          Mechanism = "opt"          // the optimum for the sum of all nodes, as if they were one; a second program then chooses nodes (§4.1)
)

// Cells selects which amounts of CPUs and memory Tune considers for a job.
type Cells string

// The cells.
const (
	AllCells   Cells = "all"    // every Pareto-optimal amount; one program chooses for all jobs together
	DemandOnly Cells = "demand" // only the full demand and the share proportional to GPUs, as in the paper
)

// Rules select the algorithm of the paper or of the public code.
type Rules string

// The rules.
const (
	Paper      Rules = "paper"
	PublicCode Rules = "public-code" // as in the public simulator, see Options.Public
)

// Options configure Synergy.
type Options struct {
	Order     string    // order of the queue, one of the names of Orders; default fifo
	Mechanism Mechanism // default Tune
	Cells     Cells     // which amounts of CPUs and memory a job may get, default AllCells
	Solver    string    // solver for Tune and Opt, see opt/engine; default price
	Rules     Rules     // default Paper
	// Public returns the policy that follows the authors' public code, for Rules PublicCode. Package lab/rules sets it; it is
	// nil if that package is not imported.
	Public func(Options) policy.Policy
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options {
	return Options{Order: "fifo", Mechanism: Tune, Cells: AllCells, Solver: "price", Rules: Paper}
}

func mechanisms() []Mechanism { return []Mechanism{Proportional, Greedy, Tune, Opt} }

func solvers() []string { return engine.Names() }

func (o *Options) validate() error {
	var errs []error
	if !slices.Contains(Orders(), o.Order) {
		errs = append(errs, fmt.Errorf("order %q, want one of %s", o.Order, strings.Join(Orders(), ", ")))
	}
	if !slices.Contains(mechanisms(), o.Mechanism) {
		errs = append(errs, fmt.Errorf("mechanism %q, want one of proportional, greedy, tune, opt", o.Mechanism))
	}
	if o.Cells != AllCells && o.Cells != DemandOnly {
		errs = append(errs, fmt.Errorf("cells %q, want all or demand", o.Cells))
	}
	if o.Rules != Paper && o.Rules != PublicCode {
		errs = append(errs, fmt.Errorf("rules %q, want paper or public-code", o.Rules))
	}
	if o.Rules == PublicCode && o.Mechanism == Opt {
		errs = append(errs, errors.New("mechanism opt, want proportional, greedy or tune with rules public-code: the results of its opt are not reproducible"))
	}
	if !slices.Contains(engine.Names(), o.Solver) {
		errs = append(errs, fmt.Errorf("solver %q, want one of %s", o.Solver, strings.Join(engine.Names(), ", ")))
	}
	return errors.Join(errs...)
}

// Orders returns the names that Options.Order accepts.
func Orders() []string {
	var names []string
	for _, o := range queue.Orders() {
		names = append(names, o.Name)
	}
	return names
}
