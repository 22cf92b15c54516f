package rounds

import (
	"testing"

	"github.com/oxgang/oxgang/opt/lp"
)

// An edited program is the one that would be built from scratch.
func TestLinear_edits(t *testing.T) {
	g := generator(t, NewSpec(64))
	f, err := newLinearProgram(g.Question())
	if err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		if err := apply(f, g, g.Next()); err != nil {
			t.Fatal(err)
		}
		fresh, err := newLinearProgram(g.Question())
		if err != nil {
			t.Fatal(err)
		}
		if err := apply(fresh, g, edits{Arrived: g.Jobs()}); err != nil {
			t.Fatal(err)
		}
		if a, b := sizes(f.Problem), sizes(fresh.Problem); a != b || a[0] != g.Pairs() {
			t.Fatalf("round %d: %d columns, rows and coefficients edited, %d built, want %d pairs", round, a, b, g.Pairs())
		}
		if a, b := costs(f.Problem), costs(fresh.Problem); max(a-b, b-a) > 1e-6 {
			t.Fatalf("round %d: costs add up to %v edited, %v built", round, a, b)
		}
		for i, id := range g.Jobs() {
			c := (i*7 + round) % len(g.Configs())
			values := g.Values(id, nil)
			g.Restart(id).Apply(values)
			if worth := g.Worth(id, c); worth != values[c] {
				t.Fatalf("round %d, job %d, configuration %d: worth %v, want %v", round, id, c, worth, values[c])
			}
			g.Hold(id, c)
		}
	}
}

func sizes(p *lp.Problem) [3]int { return [3]int{p.Cols(), p.Rows(), p.Nonzeros()} }

// costs adds up the columns' costs, each counted with the amount it needs.
func costs(p *lp.Problem) float64 {
	total := 0.0
	for j, c := range p.Costs() {
		_, amounts := p.Entries(j)
		for _, a := range amounts {
			total += c * a
		}
	}
	return total
}
