package convex_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/convex"
	"github.com/oxgang/oxgang/opt/exact"
)

func TestSolve_hand_instances(t *testing.T) {
	for _, h := range readGolden(t).Hand {
		t.Run(h.Name, func(t *testing.T) {
			p, names := h.problem()
			s, err := p.Solve(h.Budget)
			if h.Result == "infeasible" {
				var want *convex.BudgetError
				if !errors.As(err, &want) || !near(want.Least, h.Least) {
					t.Fatalf("error %v, want a budget of at least %g", err, h.Least)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rate := 0.0
			for _, c := range p.Classes {
				rate += c.Rate
			}
			if !near(s.MeanJCT*rate, h.Objective) || !near(s.Spend, h.Used) || !near(s.Bound, s.MeanJCT) {
				t.Errorf("objective %.12g for %.12g (bound %.12g), want %.12g for %.12g", s.MeanJCT*rate, s.Spend, s.Bound*rate, h.Objective, h.Used)
			}
			for i, want := range h.Solution {
				want.check(t, s.Widths[i][0], names)
			}
		})
	}
}

func (w *handChoice) check(t *testing.T, got convex.Mix, names []string) {
	t.Helper()
	is := func(got convex.Point, want []any) bool {
		return names[got.Kind] == want[0] && float64(got.Width) == want[1]
	}
	if !is(got.At, w.At) || !near(got.Share, w.Share) {
		t.Errorf("got %+v, want %v to %v with share %g", got, w.At, w.Next, w.Share)
	}
	if w.Next != nil && !is(got.Next, w.Next) {
		t.Errorf("got %+v, want next %v", got, w.Next)
	}
	if w.Width != 0 && !near(got.Width(), w.Width) {
		t.Errorf("width %g, want %g", got.Width(), w.Width)
	}
}

func TestFrontier_of_the_published_streams(t *testing.T) {
	streams(t, func(t *testing.T, want *stream, p *convex.Problem, within, multipliers float64) {
		f, err := p.Frontier()
		if err != nil {
			t.Fatal(err)
		}
		if !isClose(f.Least, want.Least, within) || !isClose(f.Most, want.Most, within) {
			t.Errorf("budgets from %.12g to %.12g, want %.12g to %.12g", f.Least, f.Most, want.Least, want.Most)
		}
		load, rate := 0.0, 0.0
		for i, name := range slices.Sorted(maps.Keys(want.Loads)) {
			of := 0.0
			for _, e := range p.Classes[i].Epochs {
				of += p.Classes[i].Rate * e.Size
			}
			if !isClose(of, want.Loads[name], within) {
				t.Errorf("%s: load %.12g, want %.12g", name, of, want.Loads[name])
			}
			rate += p.Classes[i].Rate
			load += of
		}
		if !isClose(load, want.Load, within) {
			t.Errorf("load %.12g, want %.12g", load, want.Load)
		}
		t.Logf("%d epochs repaired, %d breakpoints", f.Repaired, len(f.Breakpoints()))
		for _, r := range want.Results {
			s, err := f.At(r.Budget)
			if err != nil {
				t.Fatal(err)
			}
			if !isClose(s.MeanJCT, r.MeanJCT, within) || !isClose(s.Spend, r.Used, within) || !isClose(s.Multiplier*rate, r.Multiplier, multipliers) || !near(s.Bound, s.MeanJCT) {
				t.Errorf("budget %g: mean %.12g for %.12g, multiplier %.12g, bound %.12g; want %.12g for %.12g, %.12g",
					r.Budget, s.MeanJCT, s.Spend, s.Multiplier*rate, s.Bound, r.MeanJCT, r.Used, r.Multiplier)
			}
			t.Logf("budget %g: mean %.3f", r.Budget, s.MeanJCT)
		}
	})
}

func frontier(t rapid.TB, p *convex.Problem) *convex.Frontier {
	t.Helper()
	f, err := p.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func at(t rapid.TB, f *convex.Frontier, budget float64) *convex.Solution {
	t.Helper()
	s, err := f.At(budget)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func solve(t rapid.TB, p *convex.Problem, budget float64) *convex.Solution {
	t.Helper()
	return at(t, frontier(t, p), budget)
}

func everySolution(t *testing.T, kinds int, property func(*rapid.T, *convex.Problem, float64, *convex.Solution)) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t, kinds)
		f := frontier(t, p)
		budget := anyBudget(t, f.Least, f.Most)
		property(t, p, budget, at(t, f, budget))
	})
}

// What a solution says of itself is true, by Lemma 4.5 and the widths it returns.
func TestSolve_widths_are_worth_what_it_says(t *testing.T) {
	everySolution(t, 3, func(t *rapid.T, p *convex.Problem, _ float64, s *convex.Solution) {
		jct, spend, cuts := 0.0, 0.0, 0
		for i, c := range p.Classes {
			for j, e := range c.Epochs {
				m := s.Widths[i][j]
				if !slices.Contains(e.Points, m.At) || !slices.Contains(e.Points, m.Next) || !(m.Share >= 0 && m.Share < 1) {
					t.Fatalf("class %d, epoch %d: %+v is not of its points", i, j, m)
				}
				if m.Share > 0 {
					cuts++
				}
				time := (1-m.Share)/m.At.Speed + m.Share/m.Next.Speed
				jct += weight(p, i) * c.Rate * e.Size * time
				spend += c.Rate * e.Size * ((1-m.Share)*rate(p, m.At)/m.At.Speed + m.Share*rate(p, m.Next)/m.Next.Speed)
				low, high := min(m.At.Width, m.Next.Width), max(m.At.Width, m.Next.Width)
				if k := m.Width(); k < float64(low)*(1-rounding) || k > float64(high)*(1+rounding) {
					t.Fatalf("width %g of %+v", k, m)
				}
			}
		}
		if cuts > 1 || !near(s.MeanJCT, jct) || !near(s.Spend, spend) {
			t.Fatalf("%d cut; mean %g for %g, want %g for %g", cuts, s.MeanJCT, s.Spend, jct, spend)
		}
	})
}

func TestSolve_is_optimal(t *testing.T) {
	everySolution(t, 3, func(t *rapid.T, p *convex.Problem, budget float64, s *convex.Solution) {
		if want := dual(p, budget); !isClose(s.MeanJCT, want, 1e-8) || !near(s.Bound, s.MeanJCT) {
			t.Fatalf("mean %.12g, bound %.12g, want %.12g", s.MeanJCT, s.Bound, want)
		}
	})
}

func TestSolve_agrees_with_the_linear_program(t *testing.T) {
	if !exact.Available {
		t.Skip("HiGHS is not here")
	}
	everySolution(t, 3, func(t *rapid.T, p *convex.Problem, budget float64, s *convex.Solution) {
		// Its rows hold to 1e-9, which may be worth a lot.
		want, more := exactly(t, p, budget+3e-9), solve(t, p, budget+1e-8)
		if want > s.MeanJCT*(1+1e-8) || want < more.MeanJCT*(1-1e-8) {
			t.Fatalf("mean %.12g, with more %.12g, want %.12g in between", s.MeanJCT, more.MeanJCT, want)
		}
	})
}

// The golden values of the simulated stream are of other digits of the tables:
// with these, the linear program says what we say.
func TestFrontier_agrees_with_the_linear_program_on_the_published_streams(t *testing.T) {
	if !exact.Available {
		t.Skip("HiGHS is not here")
	}
	streams(t, func(t *testing.T, s *stream, p *convex.Problem, _, _ float64) {
		f := frontier(t, p)
		for _, r := range s.Results {
			got := at(t, f, r.Budget).MeanJCT
			if want := exactly(t, p, r.Budget); !isClose(got, want, 1e-8) {
				t.Errorf("budget %g: mean %.12g, want %.12g", r.Budget, got, want)
			}
		}
	})
}

// P1: the frontier is convex and falls until the largest useful budget.
func TestBreakpoints_are_convex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := frontier(t, anyProblem(t, 3))
		points := f.Breakpoints()
		last := points[len(points)-1]
		if !near(points[0].Budget, f.Least) || !near(last.Budget, f.Most) || last.Multiplier != 0 {
			t.Fatalf("from %+v to %+v, want %g to %g", points[0], last, f.Least, f.Most)
		}
		for n, b := range points[1:] {
			a := points[n]
			if !(a.Budget < b.Budget && a.MeanJCT > b.MeanJCT && a.Multiplier >= b.Multiplier) {
				t.Fatalf("%+v before %+v", a, b)
			}
			half := at(t, f, (a.Budget+b.Budget)/2)
			if want := (a.MeanJCT + b.MeanJCT) / 2; !isClose(half.MeanJCT, want, rounding+1e-14*a.Multiplier*b.Budget/want) {
				t.Fatalf("mean %g between %+v and %+v", half.MeanJCT, a, b)
			}
		}
		if above := at(t, f, math.Inf(1)); !near(above.MeanJCT, last.MeanJCT) || above.Multiplier != 0 {
			t.Fatalf("%+v without a budget, want %+v", above, last)
		}
	})
}

// P2.
func TestSolve_spends_the_budget_where_it_is_useful(t *testing.T) {
	everySolution(t, 3, func(t *rapid.T, p *convex.Problem, budget float64, s *convex.Solution) {
		most := frontier(t, p).Most
		if want := min(budget, most); math.Abs(s.Spend-want) > rounding*most {
			t.Fatalf("spends %.12g, want %.12g", s.Spend, want)
		}
	})
}

// P3.
func TestSolve_widths_grow_with_the_budget(t *testing.T) {
	everySolution(t, 1, func(t *rapid.T, p *convex.Problem, budget float64, s *convex.Solution) {
		more := solve(t, p, budget*rapid.Float64Range(1, 2).Draw(t, "more"))
		for i := range s.Widths {
			for j := range s.Widths[i] {
				if a, b := s.Widths[i][j].Width(), more.Widths[i][j].Width(); a > b*(1+rounding) {
					t.Fatalf("class %d, epoch %d: width %g, with more %g", i, j, a, b)
				}
			}
		}
	})
}

func same(t *rapid.T, a, b *convex.Solution) {
	t.Helper()
	if diff := cmp.Diff(a.Widths, b.Widths, cmpopts.EquateApprox(1e-6, 1e-6)); diff != "" {
		t.Fatal(diff)
	}
}

// P4: load and budget together change nothing.
func TestSolve_twice_the_load_and_the_budget(t *testing.T) {
	everySolution(t, 3, func(t *rapid.T, p *convex.Problem, budget float64, s *convex.Solution) {
		for i := range p.Classes {
			p.Classes[i].Rate *= 2
		}
		twice := solve(t, p, 2*budget)
		same(t, s, twice)
		if !near(twice.MeanJCT, s.MeanJCT) {
			t.Fatalf("mean %g, want %g", twice.MeanJCT, s.MeanJCT)
		}
	})
}

// P4: at a multiplier, the load of a class is of no account (Lemma 4.3).
func TestSolve_load_does_not_matter_at_a_multiplier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProblem(t, 1)
		for i := range p.Classes {
			p.Classes[i].Weight = 1
		}
		before := frontier(t, p)
		p.Classes[0].Rate *= 4
		after := frontier(t, p)
		n := rapid.IntRange(0, len(before.Breakpoints())-1).Draw(t, "breakpoint")
		// The frontier reads the problem, of which only the points matter here.
		same(t, at(t, before, before.Breakpoints()[n].Budget), at(t, after, after.Breakpoints()[n].Budget))
	})
}

// P5 and P11: classes that are alike are one class.
func TestSolve_halves_of_a_class(t *testing.T) {
	everySolution(t, 3, func(t *rapid.T, p *convex.Problem, budget float64, s *convex.Solution) {
		p.Classes[0].Rate /= 2
		p.Classes = append(p.Classes, p.Classes[0])
		if halves := solve(t, p, budget); !near(halves.MeanJCT, s.MeanJCT) {
			t.Fatalf("mean %.12g, want %.12g", halves.MeanJCT, s.MeanJCT)
		}
	})
}

// P6.
func TestSolve_points_below_the_hull_change_nothing(t *testing.T) {
	everySolution(t, 3, func(t *rapid.T, p *convex.Problem, budget float64, s *convex.Solution) {
		for i := range p.Classes {
			for j := range p.Classes[i].Epochs {
				e := &p.Classes[i].Epochs[j]
				last := e.Points[len(e.Points)-1]
				e.Points = append(e.Points, convex.Point{Kind: last.Kind, Width: last.Width + 1, Speed: 0.9 * last.Speed})
			}
		}
		below := solve(t, p, budget)
		same(t, s, below)
		if below.Repaired != epochs(p) {
			t.Fatalf("%d epochs repaired, want all %d", below.Repaired, epochs(p))
		}
	})
}

// P9: all weights times a number are no weights. (What weights do is in every
// comparison with a slow version.)
func TestSolve_only_the_ratio_of_weights_counts(t *testing.T) {
	everySolution(t, 3, func(t *rapid.T, p *convex.Problem, budget float64, s *convex.Solution) {
		for i := range p.Classes {
			p.Classes[i].Weight = 4 * orOne(p.Classes[i].Weight)
		}
		same(t, s, solve(t, p, budget))
	})
}

// P10.
func TestSolve_a_price_is_a_unit_of_the_budget(t *testing.T) {
	everySolution(t, 1, func(t *rapid.T, p *convex.Problem, _ float64, _ *convex.Solution) {
		p.Prices = nil
		f := frontier(t, p)
		budget := anyBudget(t, f.Least, f.Most)
		plain := at(t, f, budget)
		p.Prices = []float64{4}
		priced := solve(t, p, 4*budget)
		same(t, plain, priced)
		if !near(priced.Multiplier*4, plain.Multiplier) {
			t.Fatalf("multiplier %g, want %g", priced.Multiplier*4, plain.Multiplier)
		}
	})
}

// speeds returns points of kind 0 from widths and speeds in turn.
func speeds(pairs ...float64) []convex.Point {
	var points []convex.Point
	for n := 0; n < len(pairs); n += 2 {
		points = append(points, convex.Point{Width: int(pairs[n]), Speed: pairs[n+1]})
	}
	return points
}

func epochs(p *convex.Problem) int {
	n := 0
	for _, c := range p.Classes {
		n += len(c.Epochs)
	}
	return n
}

// §3.2, "Feasibility": "the budget, b, must be at least the sum of these system
// load terms". Not where a speedup is more than linear. Source: BOA §3.2.
func TestPaper_the_load_is_not_the_least_budget(t *testing.T) {
	p := &convex.Problem{Classes: []convex.Class{{Rate: 1, Epochs: []convex.Epoch{{Size: 1, Points: speeds(1, 1, 2, 2.1, 4, 3.6)}}}}}
	if f := frontier(t, p); !near(f.Least, 2/2.1) || f.Repaired != 1 {
		t.Errorf("least %g, %d repaired, want %g and 1", f.Least, f.Repaired, 2/2.1)
	}
}

// Figure 2 and §3.2: concave speedups, as the paper's own s(k)/k that falls, need
// not be concave; then the hull stands for them. Source: BOA §3.2, "Concavity".
func TestFrontier_says_what_it_repaired(t *testing.T) {
	for name, c := range map[string]struct {
		points []convex.Point
		want   int
	}{
		"concave":                      {speeds(1, 1, 2, 1.8, 4, 3, 8, 4), 0},
		"linear":                       {speeds(1, 0.1, 2, 0.2, 3, 0.3, 7, 0.7), 0},
		"flat at the end":              {speeds(1, 1, 2, 1.8, 4, 1.8), 0},
		"falling":                      {speeds(1, 1, 2, 1.8, 4, 1.7), 1},
		"more than linear":             {speeds(1, 1, 2, 2.1), 1},
		"s(k)/k falls, yet not convex": {speeds(1, 1, 2, 1.2, 4, 2.3), 1},
		"of two kinds, each concave": {[]convex.Point{
			{Width: 1, Speed: 1}, {Width: 2, Speed: 1.5}, {Kind: 1, Width: 1, Speed: 0.5}, {Kind: 1, Width: 2, Speed: 0.6},
		}, 0},
	} {
		p := &convex.Problem{Prices: []float64{1, 1}, Classes: []convex.Class{{Rate: 1, Epochs: []convex.Epoch{{Size: 1, Points: c.points}}}}}
		if f := frontier(t, p); f.Repaired != c.want {
			t.Errorf("%s: %d repaired, want %d", name, f.Repaired, c.want)
		}
	}
}

// Theorem B.1: under Amdahl's law problem (1) is smooth, and has k = √((1−σ)/(σμ)).
// Whole widths are the ones next to it. Source: BOA App. B.
func TestPaper_widths_under_Amdahls_law(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &convex.Problem{}
		serial := rapid.SliceOfN(rapid.Float64Range(0.001, 0.3), 1, 5).Draw(t, "serial")
		for _, sigma := range serial {
			c := convex.Class{Rate: 1, Epochs: []convex.Epoch{{Size: 1}}}
			for k := 1; k <= 200; k++ {
				c.Epochs[0].Points = append(c.Epochs[0].Points, convex.Point{Width: k, Speed: 1 / (sigma + (1-sigma)/float64(k))})
			}
			p.Classes = append(p.Classes, c)
		}
		f := frontier(t, p)
		s := at(t, f, anyBudget(t, f.Least, f.Most))
		for i, sigma := range serial {
			mu := s.Multiplier * float64(len(serial)) // of the sum, not of the mean
			want := math.Min(200, math.Max(1, math.Sqrt((1-sigma)/(sigma*mu))))
			if got := s.Widths[i][0].Width(); math.Abs(got-want) > 1+rounding {
				t.Fatalf("serial part %g: width %g, want %g", sigma, got, want)
			}
		}
	})
}

// Speeds on a line are to rounding off it, to either side. Nothing is lost by that.
func TestSolve_speeds_on_a_line(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start, slope := rapid.Float64Range(0.1, 10).Draw(t, "start"), rapid.Float64Range(0.01, 1).Draw(t, "slope")
		var points []convex.Point
		for k := 1; k <= 60; k++ {
			points = append(points, convex.Point{Width: k, Speed: start + slope*float64(k)})
		}
		p := &convex.Problem{Classes: []convex.Class{{Rate: 1, Epochs: []convex.Epoch{{Size: 1, Points: points}}}}}
		f := frontier(t, p)
		if s := at(t, f, math.Inf(1)); s.Widths[0][0].At.Width != 60 || !near(s.Spend, f.Most) || f.Repaired != 0 {
			t.Fatalf("%+v, %d repaired, want width 60 for %g", s, f.Repaired, f.Most)
		}
		budget := anyBudget(t, f.Least, f.Most)
		if want, got := dual(p, budget), at(t, f, budget); !near(got.MeanJCT, want) {
			t.Fatalf("mean %.12g, want %.12g", got.MeanJCT, want)
		}
	})
}

// What is faster by the last digit is not useful.
func TestFrontier_more_for_nothing_but_rounding(t *testing.T) {
	p := &convex.Problem{Classes: []convex.Class{{Rate: 1, Epochs: []convex.Epoch{{Size: 1, Points: speeds(1, 1.2, 6, math.Nextafter(1.2, 2))}}}}}
	if f := frontier(t, p); f.Most != f.Least || len(f.Breakpoints()) != 1 {
		t.Errorf("useful from %g to %g", f.Least, f.Most)
	}
}
