package lyra

import "github.com/oxgang/oxgang/policy/registry"

func init() {
	registry.Add(registry.WithOptions(registry.Entry{
		Name: "lyra", Doc: "Lyra: an inference cluster's servers on loan; short jobs first, then elastic jobs grow where that saves most time.",
		Placer: "best-fit",
	}, DefaultOptions, bind, New))
}

func bind(s *registry.Settings, o *Options) {
	s.Var("order", &o.Allocate.Order, "whose turn it is (sjf, fifo)")
	s.Var("growth", &o.Allocate.Growth, "how elastic jobs share the GPUs that are left (knapsack, none, gandiva, afs)")
	s.Var("pause", &o.Allocate.Pause, "what a change of workers is taken to cost a running job; with growth knapsack")
	s.Var("patience", &o.Patience, "time after which a job that waits goes first; 0: never")
	s.Var("rule", &o.Reclaim.Rule, "how servers on loan that go back are chosen (greedy, random, scf, exact)")
	s.Var("steps", &o.Reclaim.MaxSteps, "most steps of rule exact, about 12 ns each")
	s.Var("loan", &o.Loan, "what runs on servers on loan (loan, opportunity, none)")
	s.Var("group", &o.Group, "whether base and flexible workers have servers of their own (true, false)")
	s.Var("foresee", &o.Foresee, "whether jobs go by when servers on loan will be asked back (true, false)")
	s.Var("seed", &o.Reclaim.Seed, "seed of rule random")
}
