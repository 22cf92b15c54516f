package rounds

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// A Question is the part of the optimisation problem that is the same in all rounds: the configurations that jobs can
// get, and the GPUs.
type question struct {
	Configs  []config
	Capacity []int // GPUs of each type
	PerNode  []int // GPUs per node of each type
}

// A Row states how much each configuration is worth to one job in one round.
type row struct {
	Values  []float64 // by configuration; Restart converts them to worths. Set may change the slice
	Restart restart
	News    bool // Values differ from the last round
}

// An Engine solves the optimisation problem of each round. Between rounds, Set and Remove change its jobs.
type roundEngine interface {
	// Set adds a job, or changes how much each configuration is worth to it.
	Set(id job, r row) error
	Remove(id job) error
	Solve(ctx context.Context) (*answer, error)
}

// An Answer is an engine's solution of a round. It is valid until the next call of the engine.
type answer struct {
	// Weights appends the weights of a job that are above 0 to dst.
	Weights func(id job, dst []weight) []weight
	Bound   float64 // proven upper bound on the total worth; +Inf if unknown
	// Prove, if not nil, computes Bound and Violation. It is called after the time measurement.
	Prove func() (bound, violation float64)
	// Fractional is the number of jobs with more than one configuration in the relaxed solution. If it is -1, count
	// them in Weights.
	Fractional int
	Violation  float64 // largest relative excess over a constraint
	Status     string
	Iterations int
	// Longest is the CPU time of the longest parallel part; 0 without parts.
	Longest time.Duration
}

// A Kind makes Engines, the solvers of this case study. Users choose it by name.
type kind struct {
	Name string // for example "price"; "pop:K" splits the problem into K parts
	Doc  string
	// Rebuilt states that a new engine is made for every round.
	Rebuilt bool
	// Proves states that the engine returns as tight an upper bound on the total worth as engine price.
	Proves bool
	make   func(q question) (roundEngine, error)
}

func kinds() []kind {
	return []kind{
		{Name: "price", Doc: "opt/mmkp, edited between rounds, solved from the last prices", Proves: true, make: newPrice},
		{Name: "price-cold", Doc: "opt/mmkp, rebuilt each round, from scratch", Rebuilt: true, Proves: true, make: newPrice},
		{Name: "copter", Doc: "opt/copter, edited between rounds, solved from the last solution; shim", make: newCopter(warm)},
		{Name: "copter-cold", Doc: "opt/copter, edited between rounds, solved from scratch; shim", make: newCopter(cold)},
		{Name: "copter-rebuilt", Doc: "opt/copter, rebuilt each round, from scratch; shim", Rebuilt: true, make: newCopter(cold)},
		{Name: "simplex", Doc: "HiGHS, dual simplex, rebuilt each round; shim", Rebuilt: true, make: linear(simplex)},
		{Name: "ipm", Doc: "HiGHS, interior point with crossover, rebuilt each round; shim", Rebuilt: true, make: linear(interior)},
		{Name: "mip", Doc: "HiGHS, branch and cut to a gap of 1e-4, rebuilt each round", Rebuilt: true, make: integral(branchAndCut)},
	}
}

// KindNames returns the names of all kinds of engines.
func KindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.Name)
	}
	return names
}

func find(name string) (kind, error) {
	if rest, ok := strings.CutPrefix(name, "pop:"); ok {
		count, inner, _ := strings.Cut(rest, ":")
		if inner == "" {
			inner = "price"
		}
		k, err := strconv.Atoi(count)
		if err != nil || k < 1 {
			return kind{}, fmt.Errorf("engine %q: %q parts, want a number of at least 1", name, count)
		}
		of, err := find(inner)
		if err != nil {
			return kind{}, err
		}
		of.make, of.Name, of.Proves = newParts(k, of.make), name, false
		return of, nil
	}
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.Name == name }); i >= 0 {
		return all[i], nil
	}
	return kind{}, fmt.Errorf("engine %q is not known, want one of %s", name, strings.Join(KindNames(), ", "))
}

type origin bool

const (
	cold origin = false // from nothing
	warm origin = true
)

func newCopter(from origin) func(question) (roundEngine, error) {
	return func(q question) (roundEngine, error) {
		o := copter.DefaultOptions()
		o.Polish = true
		s, err := copter.New(o)
		if err != nil {
			return nil, err
		}
		f, err := newLinearProgram(q)
		if err != nil {
			return nil, err
		}
		f.Solver = s
		if from == cold {
			f.Before = s.Reset
		}
		return f, nil
	}
}

func linear(solver func() (lp.Solver, error)) func(question) (roundEngine, error) {
	return func(q question) (roundEngine, error) { return newLinear(q, solver, false) }
}

func integral(solver func() (lp.Solver, error)) func(question) (roundEngine, error) {
	return func(q question) (roundEngine, error) { return newLinear(q, solver, true) }
}

func newLinear(q question, solver func() (lp.Solver, error), whole bool) (roundEngine, error) {
	f, err := newLinearProgram(q)
	if err != nil {
		return nil, err
	}
	f.Integral = whole
	f.Solver, err = solver()
	return f, err
}

func simplex() (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Method, o.Tolerance = exact.Simplex, 1e-7
	return exact.New(o)
}

func interior() (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Method, o.Tolerance = exact.InteriorPoint, 1e-7
	return exact.New(o)
}

func branchAndCut() (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Tolerance, o.MIPGap = 1e-7, 1e-4
	return exact.New(o)
}
