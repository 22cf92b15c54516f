package market_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/lab/market"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// within is how exact the properties are: an error of 1e-10 in the welfare may be
// one of its square root in who gets what.
const within = 1e-4

// anyMarket draws a market of buyers with small whole rates, so that there are
// ties, or with rates between whole numbers; some have no use for some rounds.
func anyMarket(t *rapid.T, utility *rapid.Generator[market.Utility]) *market.Market {
	rounds, types := rapid.IntRange(1, 5).Draw(t, "rounds"), rapid.IntRange(1, 3).Draw(t, "types")
	supply := rapid.SliceOfN(rapid.Float64Range(0.5, 4), types, types)
	rates := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0.1, 4), rapid.SampledFrom([]float64{0, 1, 2})), types, types)
	m := &market.Market{Supply: rapid.SliceOfN(supply, rounds, rounds).Draw(t, "supply")}
	for range rapid.IntRange(1, 5).Draw(t, "buyers") {
		b := market.Buyer{Budget: rapid.Float64Range(0.2, 3).Draw(t, "budget"), Utility: utility.Draw(t, "utility")}
		b.Rates = rapid.SliceOfN(rates, rounds, rounds).Draw(t, "rates")
		for r := range b.Rates {
			if slices.Max(b.Rates[r]) == 0 {
				b.Rates[r] = nil
			}
		}
		if b.Of(m.Supply) == 0 {
			b.Rates[0] = slices.Repeat([]float64{1}, types)
		}
		m.Buyers = append(m.Buyers, b)
	}
	return m
}

var (
	linear   = rapid.Just(market.Linear)
	leontief = rapid.Just(market.Leontief)
	either   = rapid.SampledFrom([]market.Utility{market.Linear, market.Leontief})
)

// everyMarket checks a property of the equilibria of all kinds of markets.
func everyMarket(t *testing.T, property func(*rapid.T, *market.Market, *market.Solution)) {
	for name, utility := range map[string]*rapid.Generator[market.Utility]{"linear": linear, "leontief": leontief, "mixed": either} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := anyMarket(t, utility)
				s, err := m.Solve(market.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				if !s.Converged {
					t.Fatalf("gap %g after %d iterations", s.Gap, s.Iterations)
				}
				property(t, m, s)
			})
		})
	}
}

// Shockwave §4.1, §C.2: "There is no leftover resource if the price for the
// resource type is non-zero." What is left over is worth nothing.
func TestEquilibrium_clears_the_market(t *testing.T) {
	everyMarket(t, func(t *rapid.T, m *market.Market, s *market.Solution) {
		for r := range m.Supply {
			for j, left := range m.Supply[r] {
				for i := range s.X {
					if s.X[i][r][j] < 0 {
						t.Fatalf("buyer %d has %g of type %d in round %d", i, s.X[i][r][j], j, r)
					}
					left -= s.X[i][r][j]
				}
				if left < -1e-9 || left*s.Prices[r][j] > within {
					t.Errorf("round %d, type %d: %g left over at price %g", r, j, left, s.Prices[r][j])
				}
			}
		}
	})
}

// Shockwave §D.2, budget clearing: "the budget for all jobs will be completely
// burnt over periods".
func TestEquilibrium_spends_budgets(t *testing.T) {
	everyMarket(t, func(t *rapid.T, m *market.Market, s *market.Solution) {
		for i, b := range m.Buyers {
			if spent := s.Spent(s.X[i]); math.Abs(spent-b.Budget) > within {
				t.Errorf("buyer %d spends %g of %g", i, spent, b.Budget)
			}
		}
	})
}

// Shockwave §C.2, §D.2: a job's utility is the most its budget can buy, and it buys
// "only in certain time periods that guarantee MBB (Maximal Bang-Per-Buck)". The
// cheapest unit of utility is searched for here anew.
func TestEquilibrium_buys_the_best_for_the_money(t *testing.T) {
	everyMarket(t, func(t *rapid.T, m *market.Market, s *market.Solution) {
		for i, b := range m.Buyers {
			cheapest := math.Inf(1)
			for r := range b.Rates {
				cheapest = math.Min(cheapest, unitCost(b, r, s.Prices[r]))
			}
			if best := b.Budget / cheapest; math.Abs(s.Utilities[i]/best-1) > within {
				t.Errorf("buyer %d has %g, its budget could buy %g", i, s.Utilities[i], best)
			}
			for r := range b.Rates {
				only := market.Buyer{Utility: b.Utility, Rates: b.Rates[r : r+1]}
				round := market.Solution{Prices: s.Prices[r : r+1]}
				x := s.X[i][r : r+1]
				if spent := round.Spent(x); spent-cheapest*only.Of(x) > within {
					t.Errorf("buyer %d spends %g in round %d, elsewhere it needs %g", i, spent, r, cheapest*only.Of(x))
				}
			}
		}
	})
}

// unitCost returns the least cost of a unit of a buyer's utility in a round.
func unitCost(b market.Buyer, r int, prices []float64) float64 {
	least, bundle := math.Inf(1), 0.0
	for j, rate := range b.Rates[r] {
		bundle += rate * prices[j]
		if rate > 0 {
			least = math.Min(least, prices[j]/rate)
		}
	}
	if b.Utility == market.Leontief && b.Rates[r] != nil {
		return bundle
	}
	return least
}

// anyAllocation draws parts of all supplies for all buyers.
func anyAllocation(t *rapid.T, m *market.Market) [][][]float64 {
	x := make([][][]float64, len(m.Buyers))
	for i := range x {
		x[i] = make([][]float64, len(m.Supply))
		for r := range x[i] {
			x[i][r] = make([]float64, len(m.Supply[r]))
		}
	}
	for r := range m.Supply {
		for j, c := range m.Supply[r] {
			parts := rapid.SliceOfN(rapid.Float64Range(0.001, 1), len(x), len(x)).Draw(t, "parts")
			total := 0.0
			for _, p := range parts {
				total += p
			}
			for i := range x {
				x[i][r][j] = c * parts[i] / total
			}
		}
	}
	return x
}

// Shockwave §4.2: the equilibrium has the greatest Nash social welfare over time.
func TestEquilibrium_has_the_greatest_welfare(t *testing.T) {
	everyMarket(t, func(t *rapid.T, m *market.Market, s *market.Solution) {
		if w := m.Welfare(s.X); math.Abs(w-s.Welfare) > 1e-12 {
			t.Errorf("welfare %g, reported %g", w, s.Welfare)
		}
		other := anyAllocation(t, m)
		for _, part := range []float64{1, 0.1, 0.001} { // also near the equilibrium
			if w := m.Welfare(blend(s.X, other, part)); w > s.Bound+1e-12 {
				t.Errorf("%g of another allocation: welfare %.12g, bound %.12g", part, w, s.Bound)
			}
		}
	})
}

// blend returns x with a part of y.
func blend(x, y [][][]float64, part float64) [][][]float64 {
	z := make([][][]float64, len(x))
	for i := range x {
		z[i] = make([][]float64, len(x[i]))
		for r := range x[i] {
			z[i][r] = make([]float64, len(x[i][r]))
			for j := range z[i][r] {
				z[i][r][j] = (1-part)*x[i][r][j] + part*y[i][r][j]
			}
		}
	}
	return z
}

// Corollary 4.0.1 (b): with equal budgets every job has ρ ≤ 1. With others its
// share is as large as its part of the budgets.
func TestEquilibrium_gives_everybody_its_share(t *testing.T) {
	everyMarket(t, func(t *rapid.T, m *market.Market, s *market.Solution) {
		for i, rho := range m.Rho(s.X) {
			if rho > 1+within {
				t.Errorf("buyer %d: rho %g", i, rho)
			}
		}
	})
}

// equalBudgets solves a market again, with equal budgets.
func equalBudgets(t *rapid.T, m *market.Market) *market.Solution {
	for i := range m.Buyers {
		m.Buyers[i].Budget = 1
	}
	s, err := m.Solve(market.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Corollary 4.0.1 (a): with equal budgets no allocation has a smaller product of ρ.
func TestEquilibrium_minimizes_the_product_of_rho(t *testing.T) {
	everyMarket(t, func(t *rapid.T, m *market.Market, _ *market.Solution) {
		s := equalBudgets(t, m)
		other := anyAllocation(t, m)
		for _, part := range []float64{1, 0.1, 0.001} {
			ours, theirs := product(m.Rho(s.X)), product(m.Rho(blend(s.X, other, part)))
			if ours > theirs*(1+1e-7) {
				t.Errorf("%g of another allocation: product of rho %g, ours %g", part, theirs, ours)
			}
		}
	})
}

func product(v []float64) float64 {
	p := 1.0
	for _, x := range v {
		p *= x
	}
	return p
}

// Shockwave §4.1, §E (b): with equal budgets nobody prefers what another has.
func TestEquilibrium_is_free_of_envy(t *testing.T) {
	everyMarket(t, func(t *rapid.T, m *market.Market, _ *market.Solution) {
		s := equalBudgets(t, m)
		for i := range m.Buyers {
			for k := range m.Buyers {
				if theirs := m.Buyers[i].Of(s.X[k]); theirs > s.Utilities[i]*(1+within) {
					t.Errorf("buyer %d has %g, and would have %g with what buyer %d has", i, s.Utilities[i], theirs, k)
				}
			}
		}
	})
}

// Shockwave §4.2, Pareto optimality over time: "we cannot increase one job's
// training progress without depriving that of another job". A linear program looks
// for an allocation in which all have at least what they have, and the sum of gains,
// in budgets, is greatest.
func TestEquilibrium_is_Pareto_optimal(t *testing.T) {
	if !exact.Available {
		t.Skip("needs the exact solver")
	}
	everyMarket(t, func(t *rapid.T, m *market.Market, s *market.Solution) {
		if gain := improvement(t, m, s.Utilities); gain > 10*within {
			t.Errorf("all can have %g more, in parts of what they have", gain)
		}
	})
}

// improvement returns how much more all buyers can have together, each in parts of
// what it has, if none has less.
func improvement(t rapid.TB, m *market.Market, has []float64) float64 {
	p := &lp.Problem{}
	goods := make([][]lp.Row, len(m.Supply))
	for r := range m.Supply {
		for _, c := range m.Supply[r] {
			goods[r] = append(goods[r], must(p.AddRow(-lp.Inf, c))(t))
		}
	}
	for i, b := range m.Buyers {
		buyer := must(p.AddRow(1-1e-6, lp.Inf))(t)
		for r := range b.Rates {
			bundle := []lp.RowEntry{{Row: buyer, Value: 1 / has[i]}}
			for j, rate := range b.Rates[r] {
				if b.Utility == market.Linear {
					gain := lp.RowEntry{Row: buyer, Value: rate / has[i]}
					must(p.AddCol(-gain.Value, 0, lp.Inf, gain, lp.RowEntry{Row: goods[r][j], Value: 1}))(t)
				} else if rate > 0 {
					bundle = append(bundle, lp.RowEntry{Row: goods[r][j], Value: rate})
				}
			}
			if len(bundle) > 1 {
				must(p.AddCol(-bundle[0].Value, 0, lp.Inf, bundle...))(t)
			}
		}
	}
	solver := must(exact.New(exact.DefaultOptions()))(t)
	s := must(solver.Solve(context.Background(), p))(t)
	if s.Status != lp.Optimal {
		t.Fatalf("linear program: %v", s.Status)
	}
	return -s.Objective - float64(len(has))
}

// must returns a function that fails the test on an error.
func must[T any](v T, err error) func(rapid.TB) T {
	return func(t rapid.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// The intro's job (Shockwave §1): its utility doubles after 10 of 20 rounds, so 30 u₀
// and not 20 u₀ is what all rounds are worth to it. Beside it is one that does not
// change. A market of its own in every round halves every round; over time, the
// first gains a third by leaving early rounds to the second, which loses nothing.
func TestEquilibrium_of_rounds_alone_is_not_optimal_over_time(t *testing.T) {
	doubles, steady := line(), line()
	for r := range 20 {
		doubles.Rates = append(doubles.Rates, []float64{float64(1 + r/10)})
		steady.Rates = append(steady.Rates, []float64{1})
	}
	m := &market.Market{Supply: gpus(20), Buyers: []market.Buyer{doubles, steady}}
	near(t, "utility of all rounds", []float64{doubles.Of(m.Supply)}, []float64{30}, 0)
	alone := make([]float64, 2)
	for r := range 20 {
		round := market.Market{Supply: m.Supply[r : r+1], Buyers: []market.Buyer{
			{Budget: 1, Rates: doubles.Rates[r : r+1]}, {Budget: 1, Rates: steady.Rates[r : r+1]},
		}}
		for i, u := range solve(t, &round).Utilities {
			alone[i] += u
		}
	}
	near(t, "rounds alone", alone, []float64{15, 10}, 1e-4)
	s, err := m.Solve(market.Settings{Gap: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "over time", s.Utilities, []float64{20, 10}, 1e-4)
	near(t, "rho", m.Rho(s.X), []float64{0.75, 1}, 1e-4)
	near(t, "prices", []float64{s.Prices[0][0], s.Prices[19][0]}, []float64{0.1, 0.1}, 1e-4)
	if !exact.Available {
		return
	}
	if gain := improvement(t, m, alone); math.Abs(gain-1.0/3) > 1e-3 {
		t.Errorf("improvement of rounds alone %g, want a third", gain)
	}
}
