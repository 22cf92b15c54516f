package market

import (
	"math"
	"slices"
)

// A Chain is a job with an uncertain future. Its state and share determine the probabilities of its next state.
// Source: Shockwave §F (a), (c), (d).
type Chain struct {
	Budget float64   // Bᵢ, more than 0
	Start  []float64 // in the first round
	// Next returns each state's probability in the next round.
	Next func(state int, share float64) []float64
	// Gain returns the utility of a round that ends in next.
	Gain func(state int, share float64, next int) float64
}

// A Process is a market under uncertainty. States are known before each round is allocated. Source: Shockwave §F.
type Process struct {
	Chains []Chain
	// Allocations are X, the chains' possible shares: together at most 1.
	Allocations [][]float64
	Rounds      int // allocated, the paper's T − 1
}

// A Policy states which allocation to choose in each round and state: π(s, x).
//
// Deviation: a policy may draw its allocation, because the paper's program (6) does, and its deterministic
// policies have less welfare. A draw is a division of resources, unless utilities or transitions are not linear.
type Policy struct {
	// Choice is by round, Process.State and allocation; nil if unreachable.
	Choice     [][][]float64
	Expected   []float64 // E[Uᵢ], by chain
	Welfare    float64   // Σᵢ Bᵢ/B log E[Uᵢ]
	Bound      float64   // of all policies
	Gap        float64   // Bound − Welfare
	Iterations int       // of Newton's method
	Converged  bool
}

// State returns the index of a joint state of all chains. The states are its digits, the first chain's last.
func (p *Process) State(states ...int) int {
	index := 0
	for i, s := range slices.Backward(states) {
		index = index*len(p.Chains[i].Start) + s
	}
	return index
}

func (p *Process) split(index int) []int {
	states := make([]int, len(p.Chains))
	for i := range states {
		n := len(p.Chains[i].Start)
		states[i], index = index%n, index/n
	}
	return states
}

// Solve returns a policy of greatest expected Nash social welfare over time. It enumerates joint states, at rounds
// times joint states cubed or more. Errors: Validate's, a chain without utility, more than 4096 pairs of round and
// joint state. Source: Shockwave Eq. 6.
func (p *Process) Solve(s Settings) (*Policy, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	l, err := p.lattice()
	if err != nil {
		return nil, err
	}
	s = s.withDefaults()
	t, steps := l.program.solve(s, func(t *iterate) float64 { return l.policy(t).Gap })
	out := l.policy(t)
	out.Iterations = steps
	out.Converged = out.Gap <= s.Gap
	return out, nil
}

// Evaluate returns the expected utility of each chain under a policy's choices.
func (p *Process) Evaluate(choice [][][]float64) []float64 {
	expected, now := make([]float64, len(p.Chains)), p.begin()
	for t := range choice {
		after := make([]float64, len(now))
		for state, mass := range now {
			if mass == 0 {
				continue
			}
			for a, chance := range choice[t][state] {
				for i := range expected {
					expected[i] += mass * chance * p.gain(i, state, a)
				}
				for _, to := range p.moves(state, a) {
					after[to.row] += mass * chance * to.value
				}
			}
		}
		now = after
	}
	return expected
}

func (p *Process) begin() []float64 {
	n := 1
	for i := range p.Chains {
		n *= len(p.Chains[i].Start)
	}
	b := make([]float64, n)
	for state := range b {
		b[state] = 1
		for i, s := range p.split(state) {
			b[state] *= p.Chains[i].Start[s]
		}
	}
	return b
}

// moves returns the next joint states; chains move independently.
func (p *Process) moves(state, allocation int) []entry {
	to, unit := []entry{{row: 0, value: 1}}, 1
	for i, s := range p.split(state) {
		var longer []entry
		for next, chance := range p.Chains[i].Next(s, p.Allocations[allocation][i]) {
			for _, e := range to {
				if chance > 0 {
					longer = append(longer, entry{row: e.row + unit*next, value: e.value * chance})
				}
			}
		}
		to = longer
		unit *= len(p.Chains[i].Start)
	}
	return to
}

func (p *Process) gain(i, state, allocation int) float64 {
	s, share, total := p.split(state)[i], p.Allocations[allocation][i], 0.0
	for next, chance := range p.Chains[i].Next(s, share) {
		if chance > 0 {
			total += chance * p.Chains[i].Gain(s, share, next)
		}
	}
	return total
}

// logRatio returns Σᵢ weightᵢ log(weightᵢ/priceᵢ).
func logRatio(weights, prices []float64) float64 {
	total := 0.0
	for i, w := range weights {
		total += w * math.Log(w/prices[i])
	}
	return total
}
