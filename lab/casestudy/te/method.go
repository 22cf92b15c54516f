package te

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// Methods returns the names of the methods. Source: thesis §5.2.2, "Evaluated approaches".
func Methods() []string {
	return []string{"lp-all", "lp-all:ipm", "lp-all:pdlp", "lp-top", "lp-top:lp-first", "pop:K", "copter"}
}

const (
	tolerance = 1e-7 // of rows and costs of 1 or more
	pdlp      = 1e-4 // need not be exact
	topShare  = 0.1
	large     = 0.25
)

// NewMethod returns the method called name. seed determines the parts of pop:K. clock, which may be nil, measures the
// time of each part. It returns an error for an unknown name, or exact.ErrUnavailable.
func NewMethod(name string, seed uint64, clock casestudy.Clock) (Method, error) {
	kind, setting, with := strings.Cut(name, ":")
	var allocator Allocator
	var err error
	switch {
	case kind == "lp-all":
		allocator, err = newWhole(name, setting)
	case name == "lp-top", name == "lp-top:lp-first":
		var s lp.Solver
		s, err = solver(exact.InteriorPoint)
		allocator = &Top{Solver: s, Share: topShare, LPFirst: with}
	case kind == "pop" && with:
		k, bad := strconv.Atoi(setting)
		if bad != nil || k < 1 {
			return Method{}, fmt.Errorf("method %q, want pop with a number of parts, as in pop:64", name)
		}
		var s lp.Solver
		s, err = solver(exact.InteriorPoint)
		allocator = &Parts{Solver: s, K: k, Seed: seed, Large: large, Clock: clock}
	case name == "copter":
		var s *copter.Solver
		s, err = copter.New(copter.DefaultOptions())
		allocator = &Whole{Solver: s}
	default:
		err = unknown(name)
	}
	if err != nil {
		return Method{}, err
	}
	return Method{name, allocator}, nil
}

func newWhole(name, how string) (Allocator, error) {
	method := exact.Choose
	switch how {
	case "":
	case "ipm":
		method = exact.InteriorPoint
	case "pdlp":
		method = exact.PDLP
	default:
		return nil, unknown(name)
	}
	s, err := solver(method)
	if err != nil {
		return nil, err
	}
	return &Whole{Solver: s}, nil
}

func unknown(name string) error {
	return fmt.Errorf("method %q, want one of %s", name, strings.Join(Methods(), ", "))
}

func solver(m exact.Method) (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Method, o.Tolerance, o.NoCrossover = m, tolerance, m == exact.InteriorPoint
	if m == exact.PDLP {
		o.Tolerance = pdlp
	}
	return exact.New(o)
}
