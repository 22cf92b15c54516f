package market_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/lab/market"
)

// stays is a job without a future: one state, one unit of utility a GPU.
func stays() market.Chain {
	return market.Chain{
		Budget: 1, Start: []float64{1},
		Next: func(int, float64) []float64 { return []float64{1} },
		Gain: func(_ int, share float64, _ int) float64 { return share },
	}
}

// grows is a job that starts with a small batch (state 0), in which a GPU is worth
// 1, and goes to a large one (state 1), in which it is worth fast, with a chance
// that may hang on its share.
func grows(fast float64, chance func(share float64) float64) market.Chain {
	return market.Chain{
		Budget: 1, Start: []float64{1, 0},
		Next: func(state int, share float64) []float64 {
			if state == 1 {
				return []float64{0, 1}
			}
			return []float64{1 - chance(share), chance(share)}
		},
		Gain: func(state int, share float64, _ int) float64 { return share * []float64{1, fast}[state] },
	}
}

// oneOf are the allocations that give everything to one of two chains.
var oneOf = [][]float64{{1, 0}, {0, 1}}

func solveProcess(t rapid.TB, p *market.Process) *market.Policy {
	t.Helper()
	s, err := p.Solve(market.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Converged {
		t.Fatalf("gap %g after %d iterations", s.Gap, s.Iterations)
	}
	return s
}

// Two rounds; the first job's batch doubles after the first, or not, with even
// chances, whatever it is given. Let it have the second round where it has doubled:
// 2 × 1/2 = 1. Worth the same to both are the first round and the second where it
// has not, 1 + 1/2 together; of those the second job gets 5/4 and the first 1/4, so
// that each has 5/4 (product 25/16). A plan that cannot look gives one job the
// second round, of 3/2 to the first: at best 3/2 × 1.
func TestProcess_waits_for_the_state(t *testing.T) {
	p := &market.Process{Chains: []market.Chain{grows(2, func(float64) float64 { return 0.5 }), stays()}, Allocations: oneOf, Rounds: 2}
	s := solveProcess(t, p)
	near(t, "expected", s.Expected, []float64{1.25, 1.25}, 1e-4)
	near(t, "welfare", []float64{s.Welfare}, []float64{math.Log(1.25)}, 1e-9)
	near(t, "after growth", s.Choice[1][p.State(1, 0)], []float64{1, 0}, 1e-4)
	if blind := math.Log(1.5*1) / 2; !(s.Welfare > blind) {
		t.Errorf("welfare %g, want more than %g of a plan that cannot look", s.Welfare, blind)
	}
	if s.Choice[0][p.State(1, 0)] != nil {
		t.Error("a choice in a state that cannot be")
	}
}

// A market that knows the probabilities, with a good for every state in which a
// round may find itself, has the same equilibrium if allocations change nothing.
func TestProcess_is_a_market_of_states(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chance, fast := rapid.Float64Range(0.1, 0.9).Draw(t, "chance"), rapid.Float64Range(0.2, 5).Draw(t, "fast")
		p := &market.Process{Chains: []market.Chain{grows(fast, func(float64) float64 { return chance }), stays()}, Allocations: oneOf, Rounds: 2}
		m := &market.Market{Supply: [][]float64{{1}, {1 - chance, chance}}, Buyers: []market.Buyer{
			{Budget: 1, Rates: [][]float64{{1}, {1, fast}}},
			{Budget: 1, Rates: [][]float64{{1}, {1, 1}}},
		}}
		s, err := m.Solve(market.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got := solveProcess(t, p); math.Abs(got.Welfare-s.Welfare) > 1e-8 {
			t.Errorf("welfare %.10g, of the market %.10g", got.Welfare, s.Welfare)
		}
	})
}

// Two rounds; the first job's batch triples with even chances if it has the first
// round, else not. Deterministic policies give (E[U₁], E[U₂]) = (0, 2), (1, 1),
// (3, 0), or (5/2, 1/2): the first round, and the second where it has grown. The
// best point of their hull is on the line 2 − 3/5 U₁ between the first and the last,
// at U₁ = 5/3: the first job has a chance of 2/3 to begin.
func TestProcess_lets_a_job_grow(t *testing.T) {
	p := &market.Process{Chains: []market.Chain{grows(3, func(share float64) float64 { return share / 2 }), stays()}, Allocations: oneOf, Rounds: 2}
	s := solveProcess(t, p)
	near(t, "expected", s.Expected, []float64{5.0 / 3, 1}, 1e-4)
	near(t, "first round", s.Choice[0][p.State(0, 0)], []float64{2.0 / 3, 1.0 / 3}, 1e-4)
	near(t, "after growth", s.Choice[1][p.State(1, 0)], []float64{1, 0}, 1e-4)
	near(t, "else", s.Choice[1][p.State(0, 0)], []float64{0, 1}, 1e-4)
	best := math.Inf(-1)
	for _, choice := range deterministic(p) {
		e := p.Evaluate(choice)
		best = math.Max(best, (math.Log(e[0])+math.Log(e[1]))/2)
	}
	near(t, "deterministic", []float64{best}, []float64{math.Log(2.5*0.5) / 2}, 1e-12)
}

// deterministic lists all deterministic policies.
func deterministic(p *market.Process) [][][][]float64 {
	states := 1
	for _, c := range p.Chains {
		states *= len(c.Start)
	}
	var all [][][][]float64
	wide, cells := len(p.Allocations), p.Rounds*states
	for code := range int(math.Pow(float64(wide), float64(cells))) {
		choice := make([][][]float64, p.Rounds)
		for t := range choice {
			choice[t] = make([][]float64, states)
			for s := range choice[t] {
				choice[t][s] = make([]float64, wide)
				choice[t][s][code%wide] = 1
				code /= wide
			}
		}
		all = append(all, choice)
	}
	return all
}

// anyChain draws a job with two states, in both of which a GPU may be worth
// something, and which its share may make change.
func anyChain(t *rapid.T) market.Chain {
	chance := rapid.Float64Range(0, 1)
	still, served := [2]float64{chance.Draw(t, "still"), chance.Draw(t, "still")}, [2]float64{chance.Draw(t, "served"), chance.Draw(t, "served")}
	worth := [2]float64{rapid.Float64Range(0.1, 3).Draw(t, "worth"), rapid.Float64Range(0.1, 3).Draw(t, "worth")}
	start := chance.Draw(t, "start")
	return market.Chain{
		Budget: rapid.Float64Range(0.3, 3).Draw(t, "budget"),
		Start:  []float64{start, 1 - start},
		Next: func(state int, share float64) []float64 {
			to := still[state] + share*(served[state]-still[state])
			return []float64{1 - to, to}
		},
		Gain: func(state int, share float64, next int) float64 {
			return share * (worth[state] + worth[next])
		},
	}
}

// By enumeration: at the optimum of the concave program (6) no deterministic policy,
// hence no mixture of them, gains in budgets: Σ Bᵢ E[Uᵢ]/E*[Uᵢ] ≤ Σ Bᵢ.
func TestProcess_no_policy_is_better(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &market.Process{Rounds: 2, Allocations: oneOf, Chains: []market.Chain{anyChain(t), anyChain(t)}}
		if rapid.Bool().Draw(t, "one changes") {
			p.Chains[1], p.Allocations = stays(), [][]float64{{1, 0}, {0, 1}, {0.5, 0.5}}
		}
		s := solveProcess(t, p)
		for _, choice := range deterministic(p) {
			total, budgets := 0.0, 0.0
			for i, e := range p.Evaluate(choice) {
				total += p.Chains[i].Budget * e / s.Expected[i]
				budgets += p.Chains[i].Budget
			}
			if total > budgets*(1+within) {
				t.Fatalf("policy %v has %g of budgets %g", choice, total, budgets)
			}
		}
	})
}

// undecided returns a process of so many chains, each in one of two states.
func undecided(chains int) *market.Process {
	one := stays()
	one.Start = []float64{0.5, 0.5}
	one.Next = func(int, float64) []float64 { return one.Start }
	p := &market.Process{Allocations: [][]float64{make([]float64, chains)}, Rounds: 1}
	for range chains {
		p.Chains = append(p.Chains, one)
	}
	return p
}

func TestProcess_says_what_is_wrong(t *testing.T) {
	with := func(edit func(*market.Process)) *market.Process {
		p := &market.Process{Chains: []market.Chain{stays(), stays()}, Allocations: oneOf, Rounds: 1}
		edit(p)
		return p
	}
	for want, p := range map[string]*market.Process{
		"0 chains, 0 allocations, 0 rounds":         {},
		"allocation 0: 1 shares, want 2":            with(func(p *market.Process) { p.Allocations = [][]float64{{1}} }),
		"allocation 0: shares add up to 2":          with(func(p *market.Process) { p.Allocations = [][]float64{{1, 1}} }),
		"allocation 0, chain 1: share -1":           with(func(p *market.Process) { p.Allocations = [][]float64{{1, -1}} }),
		"chain 1: budget -2":                        with(func(p *market.Process) { p.Chains[1].Budget = -2 }),
		"chain 0: start: probabilities add up to 0": with(func(p *market.Process) { p.Chains[0].Start = []float64{0} }),
		"chain 0: no Next":                          with(func(p *market.Process) { p.Chains[0].Next = nil }),
		"state 0, share 1: 0 probabilities, want 1": with(func(p *market.Process) { p.Chains[0].Next = func(int, float64) []float64 { return nil } }),
		"to state 0 NaN":                            with(func(p *market.Process) { p.Chains[0].Gain = func(int, float64, int) float64 { return math.NaN() } }),
		"chain 1: it never gains anything":          with(func(p *market.Process) { p.Allocations = [][]float64{{1, 0}} }),
		"5000 or more pairs of round and joint st":  with(func(p *market.Process) { p.Rounds = 5000 }),
		"8192 or more pairs of round and joint st":  undecided(64), // 2 to the 64 are 0 in an int
	} {
		if _, err := p.Solve(market.Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
