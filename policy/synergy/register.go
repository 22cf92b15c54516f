package synergy

import (
	"strings"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
)

var public func(Options) policy.Policy

// RegisterPublic sets the function that makes policies if Rules is PublicCode. Call it once, before any policy is made.
func RegisterPublic(f func(Options) policy.Policy) { public = f }

func init() {
	add("synergy", "Synergy: jobs run as submitted, in an order; CPUs and memory go where they speed jobs up.", DefaultOptions, bind)
	bigData("drf", "Dominant resource fairness: smallest dominant share of GPUs, CPUs and memory first; each job has its full demand or waits.")
	bigData("tetris", "Tetris: least resources times remaining time first; each job has its full demand or waits.")
}

func bigData(name, doc string) {
	defaults := func() Options {
		o := DefaultOptions()
		o.Order, o.Mechanism = name, Greedy
		return o
	}
	add(name, doc, defaults, func(s *registry.Settings, o *Options) {
		bindSharing(s, o, "greedy (full demand or nothing), or another mechanism of policy synergy")
	})
}

func add(name, doc string, defaults func() Options, bind func(*registry.Settings, *Options)) {
	registry.Add(registry.WithOptions(registry.Entry{Name: name, Doc: doc, Placer: "pack"}, defaults, bind, func(o Options) (policy.Policy, error) {
		o.Public = public
		return New(o)
	}))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("order", &o.Order, "order of jobs: "+strings.Join(Orders(), ", "))
	bindSharing(s, o, "proportional, greedy, tune or opt")
}

func bindSharing(s *registry.Settings, o *Options, mechanisms string) {
	s.Var("mechanism", &o.Mechanism, mechanisms)
	s.Var("cells", &o.Cells, "choices of tune: all (a job's whole sensitivity matrix) or demand (its full demand or GPU share)")
	s.Var("solver", &o.Solver, strings.Join(solvers(), ", "))
	s.Var("rules", &o.Rules, "paper or public-code")
}
