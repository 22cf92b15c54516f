package rounds_test

import (
	"testing"

	"github.com/oxgang/oxgang/casestudy/rounds"
)

// An edited program is the one that would be built from scratch.
func TestLinear_edits(t *testing.T) {
	g := generator(t, rounds.NewSpec(64))
	f, err := rounds.NewLinear(g)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		if err := f.Apply(g, g.Next()); err != nil {
			t.Fatal(err)
		}
		p := f.Problem
		if p.Cols() != g.Pairs() || p.Rows() != 100+7 || p.Nonzeros() != 2*g.Pairs() {
			t.Fatalf("round %d: %d columns, %d rows, %d coefficients, want %d, 107, %d", round, p.Cols(), p.Rows(), p.Nonzeros(), g.Pairs(), 2*g.Pairs())
		}
		var values, costs []float64
		for i, id := range g.Jobs() {
			values = g.Values(id, values)
			g.Restart(id).Apply(values)
			costs = f.Weights(id, p.Costs(), costs)
			for c, v := range values {
				if costs[c] != -v {
					t.Fatalf("round %d, job %d, configuration %d: cost %v, want %v", round, id, c, costs[c], -v)
				}
			}
			g.Hold(id, (i*7+round)%len(values))
		}
	}
}
