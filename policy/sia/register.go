package sia

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
)

// InParts makes the Sia policy for the solver setting pop:k, which divides the cluster into k parts. Package
// policy/rivals/pop sets it; it is nil in programs that do not import that package.
var InParts func(k int, part func() (policy.Policy, error)) (policy.Policy, error)

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "sia", Doc: "Sia: GPU type and count of adaptive jobs chosen together, by goodput.",
	}, func() settings { return settings{DefaultOptions(), "thesis"} }, bind, build))
}

type settings struct {
	Options
	rules string
}

func bind(s *registry.Settings, o *settings) {
	s.Var("p", &o.P, "fairness exponent, not 0")
	s.Var("lambda", &o.Lambda, "penalty for giving a job nothing")
	s.Var("growth", &o.Growth, "factor by which a job's GPUs may grow in a round")
	s.Var("solver", &o.Solver, strings.Join(solvers(), ", ")+", or pop:K: K parts by exact (pop:K:NAME: by solver NAME)")
	s.Var("cells", &o.Cells, "choose CPUs and memory with GPUs if nodes count them; otherwise jobs get their GPU-proportional share")
	s.Var("ties", &o.Ties, "choice among equally good plans: 0 prefers jobs submitted first; any other number is a random seed")
	s.Var("rules", &o.rules, "thesis or public-code")
}

func build(s settings) (policy.Policy, error) {
	switch s.rules {
	case "thesis":
	case "public-code":
		s.PublicCode()
	default:
		return nil, fmt.Errorf("setting rules is %q, want thesis or public-code", s.rules)
	}
	parts, ok := strings.CutPrefix(s.Solver, "pop:")
	if !ok {
		return New(s.Options)
	}
	return inParts(s.Options, parts)
}

func inParts(o Options, parts string) (policy.Policy, error) {
	count, solver, named := strings.Cut(parts, ":")
	k, err := strconv.Atoi(count)
	if err != nil {
		return nil, fmt.Errorf("setting solver is %q: %q parts, want a whole number", o.Solver, count)
	}
	if InParts == nil {
		return nil, fmt.Errorf("setting solver is %q, want another: this program lacks policy pop", o.Solver)
	}
	if o.Solver = solver; !named {
		o.Solver = Exact
	}
	return InParts(k, func() (policy.Policy, error) { return New(o) })
}
