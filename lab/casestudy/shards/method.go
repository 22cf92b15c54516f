package shards

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// Methods returns the names of the methods. In pop:K, K is a number of parts. Source: thesis §5.2.1, "Evaluated
// approaches".
func Methods() []string {
	return []string{"heuristic", "exact", "lp-relaxed", "pop:K", "copter"}
}

const (
	exactTolerance = 1e-7 // of rows and costs near 1
	exactDust      = 1e-6
	copterDust     = 1e-4 // copter's own tolerance
	popGap         = 0.05 // of the parts, as in POP's benchmark
)

// CheckMethod returns an error if no method has this name.
func CheckMethod(name string) error {
	_, err := NewMethod(name, 0, nil)
	return err
}

// NewMethod returns the balancer called name. seed determines the parts of pop:K. clock, which may be nil, measures the
// time of each part. It returns an error for an unknown name, or exact.ErrUnavailable.
func NewMethod(name string, seed uint64, clock casestudy.Clock) (Balancer, error) {
	switch kind, count, split := strings.Cut(name, ":"); {
	case name == "heuristic":
		return Heuristic{}, nil
	case name == "exact":
		return newExactMethod(0)
	case name == "lp-relaxed":
		solver, err := exactSolver(0)
		if err != nil {
			return nil, err
		}
		return NewRelaxed(solver, exactDust)
	case name == "copter":
		o := copter.DefaultOptions()
		o.Polish = true
		solver, err := copter.New(o)
		if err != nil {
			return nil, err
		}
		return NewRelaxed(solver, copterDust)
	case kind == "pop" && split:
		k, err := strconv.Atoi(count)
		if err != nil || k < 1 {
			return nil, fmt.Errorf("method %q, want pop with a number of parts, as in pop:8", name)
		}
		return NewParts(k, seed, clock, func() (Balancer, error) { return newExactMethod(popGap) })
	}
	return nil, fmt.Errorf("method %q, want one of %s", name, strings.Join(Methods(), ", "))
}

func newExactMethod(gap float64) (Balancer, error) {
	solver, err := exactSolver(gap)
	if err != nil {
		return nil, err
	}
	return NewExact(solver), nil
}

func exactSolver(gap float64) (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Tolerance, o.MIPGap = exactTolerance, gap
	return exact.New(o)
}
