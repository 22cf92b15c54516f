package pollux

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "pollux", Doc: "Pollux: chooses GPUs and nodes of all adaptive jobs together, by goodput, as if there were one GPU type.",
	}, DefaultOptions, bind, New))
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "pollux-autoscale", Doc: "Pollux that rents nodes to keep the cluster's efficiency near a target.",
	}, DefaultAutoscaleOptions, bindAutoscale, NewAutoscaler))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("p", &o.P, "exponent of the power mean of speedups, not 0")
	s.Var("growth", &o.Growth, "a job may have this many times the most GPUs it ever had")
	s.Var("population", &o.Population, "matrices of the genetic search")
	s.Var("generations", &o.Generations, "generations of the search per round")
	s.Var("patience", &o.Patience, "the search ends after this many generations without a better matrix; 0: never")
	s.Var("seed", &o.Seed, "seed of the search")
}

func bindAutoscale(s *registry.Settings, o *AutoscaleOptions) {
	bind(s, &o.Options)
	s.Var("target", &o.Target, "target efficiency, above 0 and below 1: the jobs' total speedup over one GPU, divided by the GPUs")
	s.Var("least", &o.Least, "fewest nodes, rented or not")
	s.Var("cycles", &o.Cycles, "the size changes if the mean efficiency of this many rounds is too far from the target")
}
