package minkunion_test

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/minkunion"
)

// unlimited is steps enough for every small problem.
const unlimited = 1 << 40

func TestSolve(t *testing.T) {
	pair := []minkunion.Set{{Elements: []int{0}}, {Elements: []int{1}}, {Elements: []int{0}}}
	tests := []struct {
		name string
		p    minkunion.Problem
		want []int
		cost int64
	}{
		{"nothing", minkunion.Problem{}, nil, 0},
		{"none of them", minkunion.Problem{Sets: pair, Elements: []int64{1, 1}}, nil, 0},
		{"all of them", minkunion.Problem{Sets: pair, Elements: []int64{1, 1}, Pick: 3}, []int{0, 1, 2}, 2},
		{"an element is paid for once", minkunion.Problem{Sets: pair, Elements: []int64{3, 2}, Pick: 2}, []int{0, 2}, 3},
		{"unless two are cheaper", minkunion.Problem{Sets: pair, Elements: []int64{3, 2}, Pick: 1}, []int{1}, 2},
		{"a set's own cost", minkunion.Problem{Sets: []minkunion.Set{{Cost: 5}, {Cost: -2}, {Cost: 1}}, Pick: 2}, []int{1, 2}, -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := minkunion.Solve(&test.p, minkunion.Options{MaxSteps: unlimited})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got.Sets); d != "" || got.Cost != test.cost || got.Bound != test.cost {
				t.Errorf("cost %d, bound %d, want %d; sets -want +got\n%s", got.Cost, got.Bound, test.cost, d)
			}
		})
	}
}

func TestSolve_complains(t *testing.T) {
	one := []minkunion.Set{{Elements: []int{0}}}
	for name, p := range map[string]minkunion.Problem{
		"too many":            {Sets: one, Elements: []int64{1}, Pick: 2},
		"fewer than none":     {Pick: -1},
		"no such element":     {Sets: one},
		"element twice":       {Sets: []minkunion.Set{{Elements: []int{0, 0}}}, Elements: []int64{1}},
		"negative cost":       {Elements: []int64{-1}},
		"costs beyond int64":  {Elements: []int64{math.MaxInt64, math.MaxInt64}},
		"costs beyond, below": {Sets: []minkunion.Set{{Cost: math.MinInt64}}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := minkunion.Solve(&p, minkunion.Options{}); err == nil {
				t.Error("no error")
			}
		})
	}
}

// small draws a problem that can be enumerated.
func small(t *rapid.T) *minkunion.Problem {
	p := &minkunion.Problem{Elements: rapid.SliceOfN(rapid.Int64Range(0, 9), 1, 8).Draw(t, "elements")}
	for range rapid.IntRange(1, 11).Draw(t, "sets") {
		set := minkunion.Set{Cost: rapid.Int64Range(-3, 3).Draw(t, "cost")}
		set.Elements = rapid.SliceOfNDistinct(rapid.IntRange(0, len(p.Elements)-1), 0, 4, rapid.ID).Draw(t, "set")
		p.Sets = append(p.Sets, set)
	}
	p.Pick = rapid.IntRange(0, len(p.Sets)).Draw(t, "pick")
	return p
}

// least enumerates every choice.
func least(p *minkunion.Problem) int64 {
	best := int64(math.MaxInt64)
	for mask := range uint(1) << len(p.Sets) {
		if bits.OnesCount(mask) != p.Pick {
			continue
		}
		var picked []int
		for i := range p.Sets {
			if mask>>i&1 == 1 {
				picked = append(picked, i)
			}
		}
		best = min(best, p.Cost(picked))
	}
	return best
}

func TestSolve_property_finds_what_enumeration_finds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := small(t)
		got, err := minkunion.Solve(p, minkunion.Options{MaxSteps: unlimited})
		if err != nil {
			t.Fatal(err)
		}
		want := least(p)
		if got.Cost != want || got.Bound != want || p.Cost(got.Sets) != want || len(got.Sets) != p.Pick || !slices.IsSorted(got.Sets) {
			t.Fatalf("%d sets %v cost %d, bound %d, want %d", p.Pick, got.Sets, got.Cost, got.Bound, want)
		}
	})
}

func TestSolve_property_limits_and_slack_keep_bound_below_optimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := small(t)
		o := minkunion.Options{MaxSteps: rapid.IntRange(0, 60).Draw(t, "steps"), Slack: rapid.Int64Range(1, 6).Draw(t, "slack")}
		start := make([]int, p.Pick)
		for i := range start {
			start[i] = i
		}
		if rapid.Bool().Draw(t, "start") {
			o.Start = [][]int{start}
		}
		got, err := minkunion.Solve(p, o)
		if err != nil {
			t.Fatal(err)
		}
		want := least(p)
		if got.Bound > want || got.Cost < want || p.Cost(got.Sets) != got.Cost {
			t.Fatalf("cost %d, bound %d, optimum %d", got.Cost, got.Bound, want)
		}
		if o.Start != nil && got.Cost > p.Cost(start) {
			t.Fatalf("cost %d, %d to start from", got.Cost, p.Cost(start))
		}
		if full, _ := minkunion.Solve(p, minkunion.Options{MaxSteps: unlimited, Slack: o.Slack}); full.Bound <= full.Cost-o.Slack {
			t.Fatalf("cost %d, bound %d with slack %d and no limit", full.Cost, full.Bound, o.Slack)
		}
	})
}

// scattered spreads elements over sets at random: each of count elements is in spread sets,
// drawn with replacement, and costs one.
func scattered(sets, count, spread, pick int, seed uint64) *minkunion.Problem {
	p := &minkunion.Problem{Sets: make([]minkunion.Set, sets), Pick: pick}
	draw := rng.Stream(seed, "scattered")
	for e := range count {
		p.Elements = append(p.Elements, 1)
		for range 1 + draw.IntN(spread) {
			if s := &p.Sets[draw.IntN(sets)]; !slices.Contains(s.Elements, e) {
				s.Elements = append(s.Elements, e)
			}
		}
	}
	return p
}

// integer is p as an integer program: Σ y least, yₑ ≥ xₛ, Σ x = n.
func integer(p *minkunion.Problem) *lp.Problem {
	q := &lp.Problem{}
	count, _ := q.AddRow(float64(p.Pick), float64(p.Pick))
	union := make([]lp.Col, len(p.Elements))
	for e, c := range p.Elements {
		union[e], _ = q.AddCol(float64(c), 0, 1)
	}
	for _, set := range p.Sets {
		x, _ := q.AddCol(float64(set.Cost), 0, 1, lp.RowEntry{Row: count, Value: 1})
		_ = q.SetInteger(x, true)
		for _, e := range set.Elements {
			_, _ = q.AddRow(0, lp.Inf, lp.ColEntry{Col: union[e], Value: 1}, lp.ColEntry{Col: x, Value: -1})
		}
	}
	return q
}

func TestSolve_agrees_with_integer_programming(t *testing.T) {
	if !exact.Available {
		t.Skip("needs HiGHS")
	}
	solver, err := exact.New(exact.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		for _, pick := range []int{6, 18, 30, 42} {
			p := scattered(60, 46, 4, pick, seed)
			got, err := minkunion.Solve(p, minkunion.Options{MaxSteps: unlimited})
			if err != nil {
				t.Fatal(err)
			}
			want, err := solver.Solve(context.Background(), integer(p))
			if err != nil {
				t.Fatal(err)
			}
			if float64(got.Cost) != math.Round(want.Objective) || got.Bound != got.Cost {
				t.Errorf("seed %d, %d of 60: cost %d, bound %d, want %g", seed, pick, got.Cost, got.Bound, want.Objective)
			}
		}
	}
}

func TestSolve_counts_steps_not_seconds(t *testing.T) {
	p := scattered(170, 133, 8, 17, 1)
	o := minkunion.Options{MaxSteps: 40_000}
	one, _ := minkunion.Solve(p, o)
	two, _ := minkunion.Solve(p, o)
	if d := cmp.Diff(one, two); d != "" {
		t.Errorf("two calls differ:\n%s", d)
	}
	full, _ := minkunion.Solve(p, minkunion.Options{MaxSteps: unlimited})
	if full.Cost != 12 || full.Bound != 12 { // HiGHS has 12, too
		t.Errorf("cost %d, bound %d without a limit, want 12", full.Cost, full.Bound)
	}
	if full.Steps <= one.Steps || one.Bound >= full.Cost {
		t.Errorf("%d steps without a limit and %d with, where the bound is %d", full.Steps, one.Steps, one.Bound)
	}
}

// Slack leaves out what cannot be better by that much: the bound must say so.
func TestSolve_slack_keeps_bound_below_optimum(t *testing.T) {
	for seed := range uint64(6) {
		p := scattered(60, 46, 6, 20, seed)
		best, _ := minkunion.Solve(p, minkunion.Options{MaxSteps: unlimited})
		for slack := int64(2); slack <= 12; slack += 2 {
			got, err := minkunion.Solve(p, minkunion.Options{MaxSteps: unlimited, Slack: slack})
			if err != nil {
				t.Fatal(err)
			}
			if got.Bound > best.Cost || got.Bound <= got.Cost-slack {
				t.Errorf("seed %d, slack %d: cost %d, bound %d, optimum %d", seed, slack, got.Cost, got.Bound, best.Cost)
			}
		}
	}
}

// Where the search does not end, each node that is divided may raise the bound, because the one of the lowest is next.
func TestSolve_more_steps_raise_the_bound(t *testing.T) {
	p := scattered(500, 390, 8, 150, 1)
	before := int64(0)
	for _, steps := range []int{0, 2_000_000, 8_000_000} {
		got, err := minkunion.Solve(p, minkunion.Options{MaxSteps: steps})
		if err != nil {
			t.Fatal(err)
		}
		if got.Bound <= before || got.Bound > got.Cost || p.Cost(got.Sets) != got.Cost {
			t.Errorf("%d steps: cost %d, bound %d, want more than %d", steps, got.Cost, got.Bound, before)
		}
		if steps > 0 && got.Steps > steps+steps/4 {
			t.Errorf("%d steps taken, want about %d", got.Steps, steps)
		}
		before = got.Bound
	}
}

// Wherever the search stops, its bound is that of the lowest node that is left.
func TestSolve_any_limit_keeps_bound_below_optimum(t *testing.T) {
	stopped := 0
	for seed := range uint64(8) {
		p := scattered(80, 62, 7, 24, seed)
		for e := range p.Elements {
			p.Elements[e] = int64(10 + e%7)
		}
		best, _ := minkunion.Solve(p, minkunion.Options{MaxSteps: unlimited})
		for steps := 4_000; steps < best.Steps; steps += steps / 3 {
			got, err := minkunion.Solve(p, minkunion.Options{MaxSteps: steps})
			if err != nil {
				t.Fatal(err)
			}
			if got.Bound > best.Cost || got.Cost < best.Cost {
				t.Errorf("seed %d, %d steps: cost %d, bound %d, optimum %d", seed, steps, got.Cost, got.Bound, best.Cost)
			}
			if got.Nodes > 1 && got.Cost > best.Cost {
				stopped++
			}
		}
	}
	if stopped < 20 {
		t.Errorf("%d searches stopped between nodes without an optimum, want at least 20", stopped)
	}
}
