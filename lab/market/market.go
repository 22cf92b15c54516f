package market

import "math"

// A Utility is the form of a buyer's utility in a round.
type Utility uint8

// The utilities of Shockwave's markets. Source: Shockwave §C.2, Eq. 3.
const (
	Linear   Utility = iota // Σⱼ uⱼ xⱼ: GPU types are substitutes
	Leontief                // minⱼ xⱼ/aⱼ: all types are needed at once
)

// A Buyer is a job with a budget. Its utility is the sum over rounds.
type Buyer struct {
	Budget  float64 // Bᵢ, more than 0
	Utility Utility
	// Rates are uᵢₜⱼ or aᵢₜⱼ, by round and type, at least 0: utility per unit of a good (Linear), or units of a good
	// per utility (Leontief; 0 if not needed). The buyer wants nothing in a round that is nil.
	Rates [][]float64
}

// A Market is a volatile Fisher market: the goods of each round are sold to buyers whose utilities change over
// rounds. Source: Shockwave §4.1, §C.1.
//
// Deviation: supplies are amounts, because the paper's unit of each resource hides which share of a cluster a GPU is.
type Market struct {
	Supply [][]float64 // by round and type, such as GPU-hours; at least 0
	Buyers []Buyer
}

// Settings are tolerances and limits; 0 selects the default.
type Settings struct {
	Gap        float64 // Solution.Gap to reach; default 1e-10
	Iterations int     // of Newton's method; default 200
}

func (s Settings) withDefaults() Settings {
	if s.Gap <= 0 {
		s.Gap = 1e-10
	}
	if s.Iterations <= 0 {
		s.Iterations = 200
	}
	return s
}

// A Solution is an equilibrium.
type Solution struct {
	X          [][][]float64 // by buyer, round and type; at least 0 and within supplies
	Prices     [][]float64   // by round and type, per unit; all supplies together cost all budgets
	Utilities  []float64     // by buyer, over time
	Welfare    float64       // Σᵢ Bᵢ/B log Uᵢ: logarithm of Nash social welfare over time
	Bound      float64       // upper bound on the welfare of all feasible X, by the prices
	Gap        float64       // Bound − Welfare
	Iterations int           // of Newton's method
	Converged  bool          // Gap is at most Settings.Gap
}

// Solve returns the equilibrium: the allocation of greatest Nash social welfare over time, with the duals of the
// supplies as prices. Of several optimal allocations it returns a central one. It returns the errors of Validate. An
// iteration costs buyers times goods squared, plus goods cubed; it takes 10 to 25. Source: Shockwave Eq. 1, Theorem
// C.1.
func (m *Market) Solve(s Settings) (*Solution, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	s = s.withDefaults()
	e := m.economy()
	t, steps := e.program.solve(s, func(t *iterate) float64 { return e.solution(t).Gap })
	out := e.solution(t)
	out.Iterations = steps
	out.Converged = out.Gap <= s.Gap
	return out, nil
}

// Of returns the buyer's utility over time of x, by round and type.
func (b *Buyer) Of(x [][]float64) float64 {
	total := 0.0
	for t, rates := range b.Rates {
		if rates != nil {
			total += b.Utility.of(rates, x[t])
		}
	}
	return total
}

func (u Utility) of(rates, x []float64) float64 {
	if u == Linear {
		total := 0.0
		for j, r := range rates {
			total += r * x[j]
		}
		return total
	}
	least := math.Inf(1)
	for j, r := range rates {
		if r > 0 {
			least = math.Min(least, x[j]/r)
		}
	}
	return least
}

// Welfare returns Σᵢ Bᵢ/B log Uᵢ of x, by buyer, round and type; -Inf if some buyer gets nothing. Source: Shockwave
// Eq. 1.
func (m *Market) Welfare(x [][][]float64) float64 {
	utilities := make([]float64, len(m.Buyers))
	for i := range m.Buyers {
		utilities[i] = m.Buyers[i].Of(x[i])
	}
	return welfare(m.budgets(), utilities)
}

func welfare(budgets, utilities []float64) float64 {
	total := 0.0
	for i, b := range budgets {
		total += b * math.Log(utilities[i])
	}
	return total / sum(budgets)
}

// Rho returns each buyer's finish-time fairness ρ: the utility of its budget's share of all supplies over the utility
// of x. At most 1 is fair. Source: Shockwave §E, where budgets are equal and the share is C/N.
func (m *Market) Rho(x [][][]float64) []float64 {
	rho, total := make([]float64, len(m.Buyers)), sum(m.budgets())
	for i := range m.Buyers {
		b := &m.Buyers[i]
		rho[i] = b.Budget / total * b.Of(m.Supply) / b.Of(x[i])
	}
	return rho
}

// Spent returns the cost of x, by round and type.
func (s *Solution) Spent(x [][]float64) float64 {
	total := 0.0
	for t := range x {
		for j, v := range x[t] {
			total += v * s.Prices[t][j]
		}
	}
	return total
}

func (m *Market) budgets() []float64 {
	b := make([]float64, len(m.Buyers))
	for i := range b {
		b[i] = m.Buyers[i].Budget
	}
	return b
}
