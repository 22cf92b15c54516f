package gavel

import (
	"fmt"

	"github.com/oxgang/oxgang/policy/registry"
)

var public Solver

// RegisterPublic sets the solver that policies use if Rules is PublicCode. Call it once, before any policy is made.
func RegisterPublic(s Solver) { public = s }

func init() {
	add("gavel", MaxMin, "Gavel: gives each job a fraction of the time on each GPU type, by default max-min fair in throughput.")
	add("mst", Sum, "As gavel, with the maximum sum of throughputs in steps per second.")
	add("ftf", FTF, "As gavel, minimising the worst finish-time fairness.")
	add("ossp", Makespan, "As gavel, with the shortest makespan: the last job ends as early as possible.")
	add("allox", AlloX, "AlloX: matches jobs to places in the machines' queues for the least mean completion time; jobs run until done.")
	add("gandivafair", Stride, "Gandiva-Fair: equal time for every job, whatever its size.")
}

func add(name string, objective Objective, doc string) {
	defaults := func() Options {
		o := DefaultOptions()
		o.Objective = objective
		return o
	}
	registry.Add(registry.WithOptions(registry.Entry{Name: name, Doc: doc}, defaults, bind, func(o Options) (*Policy, error) {
		o.Public = public
		return New(o)
	}))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("perf", &o.Perf, "use throughput by GPU type; otherwise a job counts as equally fast on all (true, false)")
	s.Var("rules", &o.Rules, "follow paper, public-code or sia-code")
	s.Var("turn", &o.Turn, "with rules=paper: jobs take turns at most this often; 0s: every round")
	s.Var("reset", &o.Reset, "with rules=public-code: least time between two solutions")
	s.Var("loss", &o.Loss, "with rules=public-code: time that a job loses when it starts again")
	if o.Objective == MaxMin {
		s.Var("objective", &o.Objective, fmt.Sprintf("one of %v", Objectives()))
	}
	if o.Objective == AlloX || o.Objective == MaxMin {
		s.Var("alpha", &o.Alpha, "fraction of the waiting jobs that are matched, first come first")
	}
}
