package rounds

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Question has what does not change between rounds: configurations and capacities.
type Question struct {
	Configs  []Config
	Capacity []int // GPUs by type
	PerNode  []int // by type
}

// A Row has the values that the configurations have for one job in a round.
type Row struct {
	Values  []float64 // by configuration, before Restart; may be changed
	Restart Restart
	News    bool // Values changed
}

// An Engine solves the program of each round. The program is edited between rounds.
type Engine interface {
	// Set adds a job, or changes its values.
	Set(id Job, r Row) error
	Remove(id Job) error
	Solve(ctx context.Context) (*Answer, error)
}

// An Answer is an engine's solution of a round. It is valid until the next call of the engine.
type Answer struct {
	// Weights appends a job's positive weights to dst.
	Weights func(id Job, dst []Weight) []Weight
	Bound   float64 // proven; +Inf if unknown
	// Prove, if not nil, returns Bound and Violation outside the time measurement.
	Prove func() (bound, violation float64)
	// Fractional counts the jobs split in the relaxation; -1 if Weights shows them.
	Fractional int
	Violation  float64 // of rows, relative
	Status     string
	Iterations int
	// Longest is the CPU time of the longest parallel part; 0 without parts.
	Longest time.Duration
}

// A Kind makes Engines, the solvers of this case study. Users choose it by name.
type Kind struct {
	Name string // for example "price"; "pop:K" splits the problem into K parts
	Doc  string
	// Rebuilt states that a new engine is made for every round.
	Rebuilt bool
	// Proves states that the engine also returns an upper bound of the best value, as tight as the bound of engine price.
	Proves bool
	make   func(q Question) (Engine, error)
}

// Kinds returns all kinds of engines, in the order of docs/experiments/engine.md.
func Kinds() []Kind {
	return []Kind{
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
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func find(name string) (Kind, error) {
	if rest, ok := strings.CutPrefix(name, "pop:"); ok {
		count, inner, _ := strings.Cut(rest, ":")
		if inner == "" {
			inner = "price"
		}
		k, err := strconv.Atoi(count)
		if err != nil || k < 1 {
			return Kind{}, fmt.Errorf("engine %q: %q parts, want a number of at least 1", name, count)
		}
		of, err := find(inner)
		if err != nil {
			return Kind{}, err
		}
		of.make, of.Name, of.Proves = newParts(k, of.make), name, false
		return of, nil
	}
	all := Kinds()
	if i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Kind{}, fmt.Errorf("engine %q is not known, want one of %s", name, strings.Join(KindNames(), ", "))
}
