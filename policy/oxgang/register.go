package oxgang

import (
	"fmt"
	"strconv"

	"github.com/oxgang/oxgang/policy/boa"
	"github.com/oxgang/oxgang/policy/registry"
)

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "oxgang", Doc: "Oxgang: for all jobs together the GPU type, count, CPUs and memory, by goodput, work left and what a move costs.",
		Placer: "racks",
	}, func() settings {
		return settings{Options: DefaultOptions(), budget: noBudget, rent: boa.DefaultOptions()}
	}, bind, build))
}

const noBudget = "none"

type settings struct {
	Options
	budget string // "none" or a number
	caps   string // see ParseCaps
	used   string // see FormatUse
	rent   boa.Options
}

func bind(s *registry.Settings, o *settings) {
	s.Var("makespan", &o.Makespan, "weight of the makespan next to the mean completion time, 0 to 1")
	s.Var("sizes", &o.Sizes, "source of a job's remaining work: stated, class (mean of its class) or attained (its GPU time so far, once more)")
	s.Var("margin", &o.Margin, "part of its time under EASY backfilling by which a job may take longer; 0: no limit")
	s.Var("guarantee", &o.Guarantee, "equal: each user with jobs has the same share of every GPU type, and others borrow what the user does not need; user: shares by the weights of jobs; none: no shares")
	s.Var("cap", &o.caps, "GPU-hours in a calendar month (UTC) after which no job of a user, queue or class starts: user:alice=500;queue:vision=800. With soft (queue:vision=800 soft), jobs start, but their weight falls as the hours are used up")
	s.Var("cap-used", &o.used, "time, and for each cap the GPU-hours of the month until then: 2026-11-20T00:00:00Z 100 31.5. oxgang serve reads them from its journals")
	s.Var("budget", &o.budget, "mean spending allowed per hour on rented nodes, in unit; 0: no limit; none: nothing is rented")
	boa.BindUnit(s, &o.rent)
	s.Var("p", &o.P, "exponent of a goodput's value, not 0")
	s.Var("lambda", &o.Lambda, "value of running a job at all")
	s.Var("growth", &o.Growth, "factor by which a job's GPUs may grow in a round")
	s.Var("start", &o.Start, "GPUs on which a job may begin, at most, unless it needs more")
	s.Var("solver", &o.Solver, "price, copter, exact, lp-exact")
	s.Var("cells", &o.Cells, "CPUs and memory are chosen with GPUs, where nodes count them; else all get their GPU-proportional share")
	s.Var("ties", &o.Ties, "choice between equally good plans: 0 serves the job that came first, any other number picks at random")
}

func build(s settings) (*Policy, error) {
	var err error
	if s.Caps, err = ParseCaps(s.caps); err != nil {
		return nil, err
	}
	if s.CapsFrom, err = parseUse(s.used, s.Caps); err != nil {
		return nil, err
	}
	if s.budget != noBudget {
		if s.rent.Budget, err = strconv.ParseFloat(s.budget, 64); err != nil {
			return nil, fmt.Errorf("setting budget is %q, want a number", s.budget)
		}
		s.Rent = &s.rent
	}
	return New(s.Options)
}
