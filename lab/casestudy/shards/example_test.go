package shards

import (
	"context"
	"fmt"
)

// Two servers with memory for three shards each. What the relaxation says is
// made to fit by dropping the replica that serves the least load.
func Example_shim() {
	in := &Instance{
		loads: []float64{6, 3, 2, 1}, sizes: []float64{1, 1, 1, 1}, memory: []float64{3, 3}, epsilon: 0.05,
	}
	r := assignment{
		{{Server: 0, Part: 0.5}, {Server: 1, Part: 0.5}},
		{{Server: 0, Part: 0.8}, {Server: 1, Part: 0.2}},
		{{Server: 0, Part: 0.1}, {Server: 1, Part: 0.9}},
		{{Server: 0, Part: 1}},
	}
	fitting, done := runShim(in, r)
	fmt.Println(done.Dropped, "dropped;", fitting[2], in.serverLoads(fitting))
	// Output: 1 dropped; [{1 1}] [6.4 5.6]
}

// A hundred rounds of the greedy balancer.
func ExampleTrial_Simulate() {
	spec := DefaultSpec()
	spec.Shards, spec.Servers = 64, 8
	trial := Trial{Spec: spec, Rounds: 100}
	rounds, err := trial.Simulate(context.Background(), heuristic{})
	if err != nil {
		fmt.Println(err)
		return
	}
	run := Run{Method: "heuristic", Spec: spec, Rounds: rounds}
	s := run.Summarise(20)
	fmt.Printf("%d rounds: %.1f movements, imbalance %.0f %%\n", s.rounds, s.Movements, 100*s.Imbalance)
	// Output: 80 rounds: 2.6 movements, imbalance 13 %
}
