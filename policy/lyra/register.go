package lyra

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "lyra", Doc: "Lyra: borrows servers of an inference cluster; short jobs first, then elastic jobs grow where that saves most time.",
		Placer: "best-fit",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("order", &o.Allocate.Order, "order of waiting jobs (sjf, fifo)")
	s.Var("growth", &o.Allocate.Growth, "how elastic jobs share the remaining GPUs (knapsack, none, gandiva, afs)")
	s.Var("pause", &o.Allocate.Pause, "assumed cost of changing a running job's workers, for growth knapsack")
	s.Var("patience", &o.Patience, "waiting time after which a job goes first; 0: never")
	s.Var("rule", &o.Reclaim.Rule, "how the servers to return are chosen (greedy, random, scf, exact)")
	s.Var("steps", &o.Reclaim.MaxSteps, "most steps of rule exact, about 12 ns each")
	s.Var("loan", &o.Loan, "what runs on servers on loan (loan, opportunity, none)")
	s.Var("group", &o.Group, "keep base and flexible workers on separate servers (true, false)")
	s.Var("foresee", &o.Foresee, "avoid servers on loan that will be returned before a job ends (true, false)")
	s.Var("seed", &o.Reclaim.Seed, "seed of rule random")
}
