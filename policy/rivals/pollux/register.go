package pollux

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "pollux", Doc: "Pollux: GPUs and nodes of adaptive jobs chosen together, by goodput and as if there were one GPU type.",
	}, DefaultOptions, bind, New))
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "pollux-autoscale", Doc: "Pollux on as many rented nodes as keep the cluster's efficiency near a target.",
	}, DefaultAutoscaleOptions, bindAutoscale, NewAutoscaler))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("p", &o.P, "exponent of the power mean of speedups, not 0")
	s.Var("growth", &o.Growth, "factor of the most GPUs a job ever had that it may have")
	s.Var("population", &o.Population, "matrices of the genetic search")
	s.Var("generations", &o.Generations, "generations of the search in a round")
	s.Var("patience", &o.Patience, "generations without a better matrix after which a search ends; 0: never")
	s.Var("seed", &o.Seed, "seed of the search")
}

func bindAutoscale(s *registry.Settings, o *AutoscaleOptions) {
	bind(s, &o.Options)
	s.Var("target", &o.Target, "efficiency of the cluster that is aimed at: speedups over one GPU by GPU, above 0 and below 1")
	s.Var("least", &o.Least, "nodes that are always there, rented or not")
	s.Var("cycles", &o.Cycles, "rounds whose mean efficiency must be off the target before the size changes")
}
