package gandiva

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "gandiva", Doc: "Gandiva: jobs take turns on the GPUs, round-robin; elastic jobs grow on idle GPUs.",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("slice", &o.Slice, "time for which jobs keep their GPUs; at least a round")
	s.Var("restarts", &o.Restarts, "least length of a slice, in mean restart times")
	s.Var("grow", &o.Grow, "let elastic jobs grow on GPUs that no other job can use (true, false)")
}
