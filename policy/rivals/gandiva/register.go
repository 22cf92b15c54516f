package gandiva

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "gandiva", Doc: "Gandiva: jobs take turns on the GPUs, in a circle; elastic ones grow where GPUs are idle.",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("slice", &o.Slice, "time for which jobs keep the GPUs they got; less than a round is a round")
	s.Var("restarts", &o.Restarts, "a slice is at least this many times as long as a restart")
	s.Var("grow", &o.Grow, "whether elastic jobs may have GPUs that nobody else can use (true, false)")
}
