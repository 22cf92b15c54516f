package shards_test

import (
	"context"
	"fmt"

	"github.com/oxgang/oxgang/lab/casestudy/shards"
)

// Two servers with memory for three shards each. What the relaxation says is
// made to fit by dropping the replica that serves the least load.
func ExampleShim() {
	in := &shards.Instance{
		Loads: []float64{6, 3, 2, 1}, Sizes: []float64{1, 1, 1, 1}, Memory: []float64{3, 3}, Epsilon: 0.05,
	}
	r := shards.Assignment{
		{{Server: 0, Part: 0.5}, {Server: 1, Part: 0.5}},
		{{Server: 0, Part: 0.8}, {Server: 1, Part: 0.2}},
		{{Server: 0, Part: 0.1}, {Server: 1, Part: 0.9}},
		{{Server: 0, Part: 1}},
	}
	fitting, done := shards.Shim(in, r)
	fmt.Println(done.Dropped, "dropped;", fitting[2], in.ServerLoads(fitting))
	// Output: 1 dropped; [{1 1}] [6.4 5.6]
}

// A hundred rounds of the greedy balancer.
func ExampleTrial_Simulate() {
	spec := shards.DefaultSpec()
	spec.Shards, spec.Servers = 64, 8
	trial := shards.Trial{Spec: spec, Rounds: 100}
	rounds, err := trial.Simulate(context.Background(), shards.Heuristic{})
	if err != nil {
		fmt.Println(err)
		return
	}
	run := shards.Run{Method: "heuristic", Spec: spec, Rounds: rounds}
	s := run.Summarise(20)
	fmt.Printf("%d rounds: %.1f movements, imbalance %.0f %%\n", s.Rounds, s.Movements, 100*s.Imbalance)
	// Output: 80 rounds: 2.6 movements, imbalance 13 %
}
