package afs

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "afs", Doc: "AFS-L: each GPU goes to the elastic job that wins all pairwise comparisons of completion times; rigid jobs go by remaining time.",
	}, DefaultOptions, bind, func(o Options) (*Policy, error) { return New(o), nil }))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("steady", &o.Steady, "keep allocations until jobs or nodes come or go (true, false)")
}
