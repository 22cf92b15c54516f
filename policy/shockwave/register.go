package shockwave

import (
	"github.com/oxgang/oxgang/policy/registry"
)

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "shockwave", Doc: "Shockwave: plans a window of rounds for fairness over time and an early end of all jobs.",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("window", &o.Window, "rounds planned ahead")
	s.Var("k", &o.K, "exponent of finish-time fairness in a job's weight")
	s.Var("lambda", &o.Lambda, "weight of the makespan")
	s.Var("paper", &o.Paper, "fairness, weights and utility as in the paper (true, false)")
	registry.Enum(s, "rule", &o.Rule, []Rule{Restatement, Bayes, Greedy},
		"how batch sizes are predicted (restatement, bayes, greedy)")
	s.Var("accordion", &o.Accordion, "most regimes expected of a job under Accordion")
	s.Var("lazy", &o.Lazy, "do not replan when a batch size changes (true, false)")
	s.Var("gap", &o.Solve.Gap, "relative gap to the bound at which a plan is good enough")
	s.Var("solves", &o.Solve.Solves, "most knapsacks solved for a plan")
	s.Var("error", &o.Error, "relative error put into predicted run times, for experiments")
	s.Var("seed", &o.Seed, "seed of error")
}
