package mmkp_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// TestSolve_large_items: programs of many small items and a few that take a quarter to all of a resource are solved
// within 1e-3 of their bound, which the search among small changes misses by tens of percent.
func TestSolve_large_items(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const gpus = 64
		p := &mmkp.Problem{Capacity: []float64{gpus}}
		for range rapid.IntRange(60, 200).Draw(t, "small items") {
			var item mmkp.Item
			value := rapid.Float64Range(0.1, 3).Draw(t, "value")
			for n := 1; n <= 8; n *= 2 {
				item.Choices = append(item.Choices, mmkp.Choice{Value: value, Use: mmkp.Use{Amount: float64(n)}})
				value *= rapid.Float64Range(1.1, 1.9).Draw(t, "gain")
			}
			p.Items = append(p.Items, item)
		}
		for range rapid.IntRange(1, 3).Draw(t, "large items") {
			p.Items = append(p.Items, mmkp.Item{Choices: []mmkp.Choice{{
				Value: rapid.Float64Range(20, 300).Draw(t, "value"), Use: mmkp.Use{Amount: float64(rapid.IntRange(gpus/3, gpus).Draw(t, "GPUs"))},
			}}})
		}
		s, err := mmkp.NewSolver().Solve(t.Context(), p, nil, mmkp.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		verify(t, p, s)
		if s.Gap > 1e-3 {
			t.Errorf("gap %v: value %v, bound %v", s.Gap, s.Value, s.Bound)
		}
	})
}

// TestSolve_large_items_keep_bound_and_value_honest: whatever the search leaves open, the value is at most that of trying
// everything, and the bound at least; and a solution that counts as optimal is the best.
func TestSolve_large_items_keep_bound_and_value_honest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t, shape{items: 6, choices: 3, resources: 2, must: true})
		best, ok := brute(p, nil)
		opts := mmkp.DefaultOptions()
		opts.MaxNodes = rapid.IntRange(1, 4).Draw(t, "nodes")
		s, err := mmkp.NewSolver().Solve(t.Context(), p, nil, opts)
		if err != nil {
			return // a limit, or no solution: other tests tell them apart
		}
		switch {
		case !ok:
			t.Fatalf("value %v of a program without a solution", s.Value)
		case s.Value > best+1e-8*max(1, best) || s.Bound < best-1e-8*max(1, best):
			t.Errorf("value %v, bound %v; the best is %v", s.Value, s.Bound, best)
		case s.Status == mmkp.Optimal && !near(s.Value, best):
			t.Errorf("optimal with value %v; the best is %v", s.Value, best)
		}
	})
}
