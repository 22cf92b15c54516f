package mmkp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// shape bounds the problems that draw makes.
type shape struct {
	items, choices, resources int
	must                      bool
}

// draw makes a problem with many ties: values and amounts come from short lists.
func draw(t *rapid.T, most shape) *mmkp.Problem {
	values := []float64{-1, 0, 0.01, 0.5, 0.5, 1, 1.07, 2, 3, 3000}
	amounts := []float64{0, 0.1, 0.3, 1, 1, 2, 3, 4, 8}
	p := &mmkp.Problem{}
	for range rapid.IntRange(0, most.resources).Draw(t, "resources") {
		p.Capacity = append(p.Capacity, rapid.SampledFrom([]float64{0, 0.3, 1, 4, 8, 11.5, 16}).Draw(t, "capacity"))
	}
	use := func() mmkp.Use {
		if len(p.Capacity) == 0 {
			return mmkp.Use{}
		}
		k := rapid.IntRange(0, len(p.Capacity)-1).Draw(t, "resource")
		return mmkp.Use{Resource: k, Amount: rapid.SampledFrom(amounts).Draw(t, "amount")}
	}
	for range rapid.IntRange(0, most.items).Draw(t, "items") {
		item := mmkp.Item{}
		for range rapid.IntRange(0, most.choices).Draw(t, "choices") {
			c := mmkp.Choice{Value: rapid.SampledFrom(values).Draw(t, "value"), Use: use()}
			for range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "more") {
				c.More = append(c.More, use())
			}
			item.Choices = append(item.Choices, c)
		}
		item.Must = most.must && len(item.Choices) > 0 && rapid.IntRange(0, 3).Draw(t, "must") == 0
		p.Items = append(p.Items, item)
	}
	return p
}

// brute returns the best value by trying everything, and false if nothing fits.
func brute(p *mmkp.Problem, pick []int) (best float64, ok bool) {
	if len(pick) == len(p.Items) {
		value, used := p.Value(pick)
		for k, u := range used {
			if u > p.Capacity[k]*(1+1e-10) {
				return 0, false
			}
		}
		return value, true
	}
	item := &p.Items[len(pick)]
	best = math.Inf(-1)
	for j := -1; j < len(item.Choices); j++ {
		if j < 0 && item.Must {
			continue
		}
		if v, fits := brute(p, append(pick, j)); fits {
			best, ok = max(best, v), true
		}
	}
	return best, ok
}

// near reports whether two values are equal but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-8*max(1, math.Abs(a)) }

func TestSolve_agrees_with_trying_everything(t *testing.T) {
	solver := mmkp.NewSolver() // one for all: no memory may leak into the next problem
	rapid.Check(t, func(rt *rapid.T) {
		p := draw(rt, shape{items: 5, choices: 4, resources: 3, must: true})
		s, err := solver.Solve(context.Background(), p, drawStart(rt, p), mmkp.DefaultOptions())
		best, ok := brute(p, nil)
		if !ok {
			if !errors.Is(err, mmkp.ErrInfeasible) {
				rt.Fatalf("error %v, want ErrInfeasible", err)
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		verify(rt, p, s)
		if !near(s.Value, best) || s.Status != mmkp.Optimal {
			rt.Fatalf("value %v (%v), want the optimum %v", s.Value, s.Status, best)
		}
		if s.Bound < best-1e-9*math.Abs(best) {
			rt.Fatalf("bound %v below the optimum %v", s.Bound, best)
		}
	})
}

// drawStart draws prices to start from: none, or any, near and far.
func drawStart(t *rapid.T, p *mmkp.Problem) []float64 {
	if rapid.Bool().Draw(t, "cold") {
		return nil
	}
	start := make([]float64, len(p.Capacity))
	for k := range start {
		start[k] = rapid.SampledFrom([]float64{0, 0, 1e-9, 0.1, 0.5, 1, 7, 1e6}).Draw(t, "price")
	}
	return start
}

// The lowest bound does not depend on where the walk starts: from nothing, in
// one core or in several, or from any prices.
func TestSolve_start_prices_change_no_bound(t *testing.T) {
	opts := mmkp.DefaultOptions()
	opts.MaxNodes = 0
	for _, items := range []int{40, 400} { // one core, and more choices than that is for
		for n := range 20 {
			p := crowded(items, n)
			cold, err := mmkp.NewSolver().Solve(t.Context(), p, nil, opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, start := range [][]float64{{0, 0, 0, 0}, {9, 0, 1e3, 0.1}, {1e-6, 1e6, 1, 1}} {
				warm, err := mmkp.NewSolver().Solve(t.Context(), p, start, opts)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(warm.Bound-cold.Bound) > 1e-8*cold.Bound {
					t.Errorf("%d items, program %d: bound %v from %v (%d steps), want %v (%d steps)", items, n, warm.Bound, start, warm.Iterations, cold.Bound, cold.Iterations)
				}
				if err := consistent(p, warm); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// crowded makes a program over four resources that has too little of each; some
// choices use two, and some items must be served.
func crowded(items, n int) *mmkp.Problem {
	r := rng.Stream(5, fmt.Sprintf("crowded/%d/%d", items, n))
	p := &mmkp.Problem{}
	for range 4 {
		p.Capacity = append(p.Capacity, float64(items)*(0.5+r.Float64()))
	}
	for range items {
		it, skill := mmkp.Item{Must: r.IntN(20) == 0}, r.Float64()
		for k := range p.Capacity {
			for _, size := range []float64{1, 2, 4, 8} {
				c := mmkp.Choice{Value: skill * math.Sqrt(size) * r.Float64(), Use: mmkp.Use{Resource: k, Amount: size}}
				if r.IntN(8) == 0 {
					c.More = []mmkp.Use{{Resource: r.IntN(4), Amount: 1}}
				}
				it.Choices = append(it.Choices, c)
			}
		}
		p.Items = append(p.Items, it)
	}
	return p
}

func TestSolve_agrees_with_the_exact_solver(t *testing.T) {
	if !exact.Available {
		t.Skip(exact.ErrUnavailable)
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := draw(rt, shape{items: 25, choices: 8, resources: 4, must: true})
		s, err := mmkp.NewSolver().Solve(context.Background(), p, nil, mmkp.DefaultOptions())
		want, wantErr := exact.Solve(context.Background(), p)
		if wantErr != nil || err != nil {
			if !errors.Is(err, mmkp.ErrInfeasible) || !errors.Is(wantErr, mmkp.ErrInfeasible) {
				rt.Fatalf("error %v, the exact solver's %v", err, wantErr)
			}
			return
		}
		verify(rt, p, s)
		if s.Status == mmkp.Optimal && !near(s.Value, want.Value) {
			rt.Fatalf("value %v, want the optimum %v", s.Value, want.Value)
		}
		if s.Bound < want.Value-1e-8*math.Abs(want.Value) || s.Value > want.Value+1e-8*math.Abs(want.Value) {
			rt.Fatalf("bound %v, optimum %v, value %v: want this order", s.Bound, want.Value, s.Value)
		}
	})
}

func TestSolve_limits_keep_bound_and_value_honest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := draw(rt, shape{items: 5, choices: 4, resources: 3})
		opts := mmkp.DefaultOptions()
		opts.MaxSteps = rapid.IntRange(0, 4).Draw(rt, "steps")
		opts.MaxNodes = rapid.IntRange(0, 3).Draw(rt, "nodes")
		start := make([]float64, len(p.Capacity))
		for k := range start {
			start[k] = rapid.Float64Range(0, 5).Draw(rt, "price")
		}
		s, err := mmkp.NewSolver().Solve(context.Background(), p, start, opts)
		if err != nil {
			rt.Fatal(err)
		}
		verify(rt, p, s)
		if best, _ := brute(p, nil); s.Bound < best-1e-9*best || s.Value > best+1e-9*best {
			rt.Fatalf("bound %v, optimum %v, value %v: want this order", s.Bound, best, s.Value)
		}
	})
}

func TestSolve_order_of_items_and_start_prices_change_no_objective(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := draw(rt, shape{items: 15, choices: 6, resources: 3})
		s, err := mmkp.NewSolver().Solve(context.Background(), p, nil, mmkp.DefaultOptions())
		if err != nil {
			rt.Fatal(err)
		}
		q := &mmkp.Problem{Capacity: p.Capacity, Items: append([]mmkp.Item(nil), p.Items...)}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 0))
		random.Shuffle(len(q.Items), func(i, j int) { q.Items[i], q.Items[j] = q.Items[j], q.Items[i] })
		other, err := mmkp.NewSolver().Solve(context.Background(), q, s.Prices, mmkp.DefaultOptions())
		if err != nil {
			rt.Fatal(err)
		}
		if s.Status == mmkp.Optimal && other.Status == mmkp.Optimal && !near(s.Value, other.Value) {
			rt.Fatalf("value %v, after a shuffle %v", s.Value, other.Value)
		}
	})
}

// verify is check for a rapid test.
func verify(t *rapid.T, p *mmkp.Problem, s *mmkp.Solution) {
	t.Helper()
	if err := consistent(p, s); err != nil {
		t.Fatal(err)
	}
}
