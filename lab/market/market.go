package market

import "math"

// A Utility is the form of a buyer's utility in a round: linear or Leontief.
type Utility uint8

// Shockwave's utilities. Source: Shockwave §C.2, Eq. 3.
const (
	Linear   Utility = iota // Σⱼ uⱼ xⱼ: types are substitutes
	Leontief                // minⱼ xⱼ/aⱼ: types are needed at once
)

// A Buyer is a job with a budget. Its utility is the sum over rounds.
type Buyer struct {
	Budget  float64 // Bᵢ, more than 0
	Utility Utility
	// Rates are uᵢₜⱼ or aᵢₜⱼ, by round and type: utility per unit (Linear), or units per utility (Leontief; 0 if
	// not needed). Nothing is wanted in a nil round.
	Rates [][]float64
}

// A Market is a volatile Fisher market: goods of each round for buyers with changing utilities. Source: Shockwave
// §4.1, §C.1.
//
// Deviation: supplies are amounts, because the paper's units hide a GPU's share of a cluster.
type Market struct {
	Supply [][]float64 // by round and type
	Buyers []Buyer
}

// Settings limit the accuracy and iterations of a solve; 0 selects the default.
type Settings struct {
	Gap        float64 // to reach; default 1e-10
	Iterations int     // Newton's; default 200
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

// A Solution is an equilibrium of a Market: allocations and prices.
type Solution struct {
	X          [][][]float64 // by buyer, round and type
	Prices     [][]float64   // by round and type, per unit
	Utilities  []float64     // over time
	Welfare    float64       // Σᵢ Bᵢ/B log Uᵢ
	Bound      float64       // of all feasible X, by the prices
	Gap        float64       // Bound − Welfare
	Iterations int           // of Newton's method
	Converged  bool
}

// Solve returns an allocation with the greatest Nash social welfare over time, and its prices. It fails only if the
// market is invalid. An iteration costs buyers times goods squared, plus goods cubed; it takes 10 to 25. Source:
// Shockwave Eq. 1, Theorem C.1.
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

// Of returns the buyer's utility over time from the goods x, by round and type.
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

// Welfare returns the logarithm of the Nash social welfare of x, Σᵢ Bᵢ/B log Uᵢ; -Inf if a buyer gets nothing.
// Source: Shockwave Eq. 1.
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

// Rho returns each buyer's ρ: the utility of its budget's share of all supplies over the utility of x. At most 1
// is fair.
// Source: Shockwave §E, for equal budgets.
func (m *Market) Rho(x [][][]float64) []float64 {
	rho, total := make([]float64, len(m.Buyers)), sum(m.budgets())
	for i := range m.Buyers {
		b := &m.Buyers[i]
		rho[i] = b.Budget / total * b.Of(m.Supply) / b.Of(x[i])
	}
	return rho
}

// Spent returns what the goods x, by round and type, cost at the prices.
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
