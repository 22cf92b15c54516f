package afs

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "afs", Doc: "AFS-L: each GPU to the elastic job with which, compared in pairs, both end soonest; rigid jobs by remaining time.",
	}, DefaultOptions, bind, func(o Options) (*Policy, error) { return New(o), nil }))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("steady", &o.Steady, "whether jobs keep what they have until jobs or nodes come or go (true, false)")
}
