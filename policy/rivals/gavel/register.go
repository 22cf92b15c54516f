package gavel

import (
	"fmt"

	"github.com/oxgang/oxgang/policy/registry"
)

// public is Options.Public of the policies that are made by name.
var public Solver

// RegisterPublic makes the rules public-code available, which need the solver of Gavel's public
// code. A program calls it once, before it makes policies.
func RegisterPublic(s Solver) { public = s }

func init() {
	add("gavel", MaxMin, "Gavel: time fractions on each GPU type, by default the fairest by throughput (max-min); rounds that follow them.")
	add("mst", Sum, "Maximum sum of throughputs in steps per second; as gavel.")
	add("ftf", FTF, "The worst finish-time fairness as small as can be; as gavel.")
	add("ossp", Makespan, "The last job ends as early as can be; as gavel.")
	add("allox", AlloX, "AlloX: jobs matched to machines and places in line for the least mean completion time; they run until done.")
	add("gandivafair", Stride, "Gandiva-Fair: equal time for every job, whatever its size.")
}

// add adds a policy that shares GPUs out in time, by its objective.
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
	s.Var("perf", &o.Perf, "whether throughput on a GPU type counts; else a job is taken to be as fast on any (true, false)")
	s.Var("rules", &o.Rules, "paper, public-code or sia-code")
	s.Var("turn", &o.Turn, "least time between two choices of who runs, of the rules paper; 0s: every round")
	s.Var("reset", &o.Reset, "least time between two solutions, of the rules public-code")
	s.Var("loss", &o.Loss, "time that a job loses in its first round after one without, of the rules public-code")
	if o.Objective == MaxMin {
		s.Var("objective", &o.Objective, fmt.Sprintf("one of %v", Objectives()))
	}
	if o.Objective == AlloX || o.Objective == MaxMin {
		s.Var("alpha", &o.Alpha, "part of the waiting jobs, first come first, that are matched")
	}
}
