package shockwave

import (
	"github.com/oxgang/oxgang/policy/registry"
)

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "shockwave", Doc: "Shockwave: a window of rounds planned ahead for fairness over time and an early end of all.",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("window", &o.Window, "rounds planned ahead")
	s.Var("k", &o.K, "power of finish-time fairness in a job's weight")
	s.Var("lambda", &o.Lambda, "weight of the makespan")
	s.Var("paper", &o.Paper, "fairness, weights and utility as the paper has them (true, false)")
	registry.Enum(s, "rule", &o.Rule, []Rule{Restatement, Bayes, Greedy},
		"how batch sizes are predicted (restatement, bayes, greedy)")
	s.Var("accordion", &o.Accordion, "regimes expected of jobs under Accordion, at most")
	s.Var("lazy", &o.Lazy, "whether a batch size that changes is no reason to plan anew (true, false)")
	s.Var("gap", &o.Solve.Gap, "relative gap to the bound at which a plan is good enough")
	s.Var("solves", &o.Solve.Solves, "knapsacks solved for a plan, at most")
	s.Var("error", &o.Error, "relative error put into predicted run times, for experiments")
	s.Var("seed", &o.Seed, "seed of error")
}
